import { keepToken } from '../delete-tokens.ts';
import { element } from '../element.ts';
import { keepCreated, readPage } from './created.ts';
import type { FormFile } from './form-file.ts';

interface Refused {
  readonly name: string;
  readonly reason: string;
}

export interface Sent {
  readonly created: boolean;
  readonly markup: string;
}

/**
 * Creates a paste of each file, one after the other, and then lists the pastes and the files that were refused. A
 * refused file keeps no other from its paste.
 * @returns whether there is at least one paste
 */
export async function createEach(
  files: readonly FormFile[],
  {
    send,
    writer,
    unreachable,
  }: { send: (file: FormFile) => Promise<Sent>; writer: string; unreachable: string },
): Promise<boolean> {
  const pastes: HTMLElement[] = [];
  const refused: Refused[] = [];
  const { maxBytes = '', tooLarge = '' } = element('new-paste', HTMLFormElement).dataset;
  let last: Document | null = null;
  for (const [index, file] of files.entries()) {
    element('form-status', HTMLElement).textContent = `${index + 1} / ${files.length} …`;
    if (file.content.size > Number(maxBytes)) {
      refused.push({ name: file.name, reason: tooLarge });
      continue;
    }
    const sent = await send(file).catch(() => null);
    const page = sent === null ? null : readPage(sent.markup);
    if (page !== null && sent?.created === true) {
      pastes.push(rowOf(file.name, page.main));
      last = page.answer;
    } else refused.push({ name: file.name, reason: page === null ? unreachable : reasonOf(page.main) });
  }
  const shown = refused.map(({ name, reason }) => textElement('p', `${name}: ${reason}`));
  if (last === null) {
    element('form-error', HTMLElement).replaceChildren(...shown);
    return false;
  }
  keepCreated({ markup: listOf(last, pastes, shown), writer });
  return true;
}

/** The link with the name of its file, the address with its button, and the delete token. */
function rowOf(name: string, main: HTMLElement): HTMLElement {
  const url = main.querySelector('#url')?.getAttribute('value') ?? '';
  const token = main.querySelector('#delete-token')?.getAttribute('value') ?? '';
  const link = Object.assign(document.createElement('a'), { href: url, textContent: name });
  const row = document.createElement('li');
  const address = main.querySelector('.copyable') ?? document.createElement('p');
  const field = address.querySelector('input');
  const id = `url-${url.split('/').at(-1)}`;
  field?.setAttribute('id', id);
  field?.setAttribute('aria-label', name);
  const button = address.querySelector('button');
  button?.setAttribute('data-copy', id);
  button?.removeAttribute('class'); // the primary one copies all
  row.append(link, address);
  if (token !== '' && !keepToken(url, token)) row.append(textElement('small', token));
  return row;
}

const reasonOf = (main: HTMLElement): string =>
  [...main.querySelectorAll('h1, .reason, li')].map((each) => each.textContent).join(' ');

/** The page of one creation, with all of them in place of the one. */
function listOf(page: Document, pastes: readonly HTMLElement[], refused: readonly HTMLElement[]): string {
  const { created = '', refused: title = '', copyAll = '' } = element('each', HTMLButtonElement).dataset;
  const heading = created.replace('{count}', String(pastes.length));
  const list = Object.assign(document.createElement('ul'), { className: 'several' });
  list.append(...pastes);
  const all = list.querySelector('button')?.cloneNode() as HTMLElement;
  all.textContent = copyAll;
  all.className = 'primary';
  all.dataset['copy'] = [...list.querySelectorAll('input')].map(({ id }) => id).join(' ');
  page.title = heading;
  page
    .querySelector('main')
    ?.replaceChildren(
      textElement('h1', heading),
      list,
      all,
      ...(refused.length === 0 ? [] : [textElement('h2', title), ...refused]),
    );
  return page.documentElement.outerHTML;
}

function textElement(tag: string, textContent: string): HTMLElement {
  return Object.assign(document.createElement(tag), { textContent });
}
