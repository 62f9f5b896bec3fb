import { downloadZip } from 'client-zip';
import type { Attachment } from '@pasteflow/sealed';
import { archiveNameOf, languageOf, type Language } from '@pasteflow/domain';
import { BEGINNING_BYTES, type ContentKind, kindOf } from '../../src/content/content-kind.ts';
import { PasteLines } from '../../src/content/paste-lines.ts';
import { tabSizeOf } from '../../src/content/tab-size.ts';
import { encodingOf, textOf } from '../../src/content/text-encoding.ts';
import { formatSize } from '../../src/html/formats.ts';
import { html, type Html } from '../../src/html/html.ts';
import { element } from '../element.ts';
import { paintTexts } from '../highlight/painter.ts';
import { startNumbers } from '../paste/start-lines.ts';
import { startCopy } from '../paste/toolbar.ts';
import type { SealedWords } from './messages.ts';
import { namesToKeep } from './names-to-keep.ts';
import { warnings } from './warnings.ts';

interface ShownFile extends Attachment {
  readonly id: string;
  readonly kind: ContentKind;
  /** Empty for what is no text. */
  readonly text: string;
  readonly language: Language | null;
  /** The name of its download. */
  readonly keptName: string;
}

/**
 * Shows several decrypted files as the page of several files does: their list under the bar, then one below the other.
 * Nothing of them is run. Their links lead within the page by a script, since the address keeps the key behind `#`.
 */
export function showFiles(
  attachments: readonly Attachment[],
  title: string | null,
  words: SealedWords,
): void {
  const names = namesToKeep(attachments.map(({ name }) => name));
  const files = attachments.map((each, index) => shownFileOf(each, `f${index + 1}`, names[index] ?? 'file'));
  const opened = element('opened', HTMLElement);
  const { worker = '' } = element('content', HTMLElement).dataset;
  element('content', HTMLElement).replaceWith(...parsed(listOf(files, words)));
  element('copy', HTMLButtonElement).remove();
  startDownloadAll(files, title, words);
  opened.hidden = false;
  let linesAbove = 0;
  const articles = files.map((file) => {
    const [article] = parsed(articleOf(file, words));
    if (article instanceof HTMLElement) linesAbove += fill(article, file, { words, linesAbove });
    return article as HTMLElement;
  });
  opened.after(...articles);
  opened.addEventListener('click', (event) => {
    const [, id] = /^to-(f\d+)$/.exec((event.target as Element).closest('a')?.id ?? '') ?? [];
    if (id === undefined) return;
    event.preventDefault();
    element(id, HTMLElement).scrollIntoView();
    element(`${id}-name`, HTMLElement).focus({ preventScroll: true });
  });
  const texts = articles.flatMap((article) => [...article.querySelectorAll<HTMLElement>('.content')]);
  for (const content of texts) startNumbers(content);
  paintTexts(
    texts.map((content) => ({
      language: content.dataset['language'] ?? '',
      chunks: [...content.querySelectorAll<HTMLElement>('.chunk')],
    })),
    worker,
  );
}

function shownFileOf(attachment: Attachment, id: string, keptName: string): ShownFile {
  const { bytes, name, syntax } = attachment;
  const kind = kindOf(bytes.subarray(0, BEGINNING_BYTES));
  const text = kind === 'text' ? textOf(bytes) : '';
  const language = kind === 'text' ? languageOf({ syntax, title: name }, text.slice(0, 400)) : null;
  return { ...attachment, id, kind, text, language, keptName };
}

function listOf(files: readonly ShownFile[], words: SealedWords): Html {
  const items = files.map(
    (file) =>
      html`<li><a id="to-${file.id}" href="${location.href}"><bdi>${file.name}</bdi></a><small>${factsOf(file, words)}</small></li>`,
  );
  return html`<nav aria-label="${words.fileList}"><ol class="files">${items}</ol></nav>`;
}

function articleOf(file: ShownFile, words: SealedWords): Html {
  const { id, name, kind, language, keptName } = file;
  return html`<article id="${id}" class="code file" aria-labelledby="${id}-name">
<div class="bar"><h2 id="${id}-name" tabindex="-1"><bdi>${name}</bdi></h2><small>${factsOf(file, words)}</small><div class="right"><a class="button" download="${keptName.split('/').at(-1)}">${words.download}</a>${
    kind === 'text' &&
    file.bytes.length > 0 &&
    html` <button type="button" class="copy" data-done="${words.copied}" data-failed="${words.copyFailed}" hidden>${words.copy}</button>`
  }</div></div>
${bodyOf(file, words, language?.id ?? '')}</article>`;
}

function bodyOf({ kind, name, bytes }: ShownFile, words: SealedWords, language: string): Html {
  if (bytes.length === 0) return html`<p class="hint">${words.emptyFile}</p>`;
  if (kind === 'binary') return html`<p class="hint">${words.binaryHint}</p>`;
  if (kind !== 'text')
    return html`<div class="picture"><img alt="${words.imageAlt.replace('NAME', () => name)}"></div>`;
  return html`<section class="content" dir="ltr" aria-label="${name}" data-language="${language}" data-tab="${tabSizeOf(language)}" tabindex="0"></section>`;
}

/** What stands beside the name: the kind and the size. */
function factsOf({ kind, bytes, language }: ShownFile, words: SealedWords): string {
  const size = formatSize(bytes.length, { locale: document.documentElement.lang, units: words.units });
  return [kindName(kind, language, words), size].filter(Boolean).join(' · ');
}

function kindName(kind: ContentKind, language: Language | null, words: SealedWords): string {
  if (kind === 'binary') return words.binary;
  if (kind !== 'text') return words.image.replace('FORMAT', kind.replace('image/', '').toUpperCase());
  return language?.id === 'text' ? words.plainText : (language?.name ?? '');
}

/** @returns the lines that the page shows of the file */
function fill(
  article: HTMLElement,
  { bytes, id, kind, text, language }: ShownFile,
  { words, linesAbove }: { readonly words: SealedWords; readonly linesAbove: number },
): number {
  const link = article.querySelector('a');
  link?.setAttribute('href', URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' })));
  const image = article.querySelector('img');
  if (image !== null) showImage(image, new Blob([bytes], { type: kind }));
  const content = article.querySelector<HTMLElement>('.content');
  if (content === null) return 0;
  const lines = new PasteLines(encodingOf(bytes), language?.id ?? '', { prefix: `${id}-`, linesAbove });
  const markup = lines.push(bytes) + lines.end();
  content.replaceChildren(...parsed({ markup }), ...warnings(lines.warnings, words));
  const copy = article.querySelector<HTMLButtonElement>('.copy');
  if (copy !== null) startCopy(copy, content, () => text);
  return lines.lineCount;
}

/** The policy of the page allows images in their addresses alone. */
function showImage(image: HTMLImageElement, blob: Blob): void {
  const reader = new FileReader();
  reader.addEventListener('load', () => {
    if (typeof reader.result === 'string') image.src = reader.result;
  });
  reader.readAsDataURL(blob);
}

function parsed({ markup }: Pick<Html, 'markup'>): readonly Element[] {
  return [...new DOMParser().parseFromString(markup, 'text/html').body.children];
}

/** The zip is made here: the server has the ciphertext alone. */
function startDownloadAll(files: readonly ShownFile[], title: string | null, words: SealedWords): void {
  const link = element('download', HTMLAnchorElement);
  link.textContent = words.downloadAll;
  link.download = archiveNameOf(title, link.download.replace(/\.txt$/, ''));
  link.href = location.href;
  let isMade = false;
  link.addEventListener('click', (event) => {
    if (isMade) return;
    event.preventDefault();
    event.stopPropagation(); // nothing is downloaded yet
    const entries = files.map(({ keptName: name, bytes: input }) => ({ name, input }));
    void downloadZip(entries)
      .blob()
      .then((zip) => {
        link.href = URL.createObjectURL(zip);
        isMade = true;
        link.click();
      });
  });
}
