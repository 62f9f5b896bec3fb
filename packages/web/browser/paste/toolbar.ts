import { withoutColours } from '../../src/content/terminal.ts';
import { copyShown } from '../copy.ts';
import { element, optional } from '../element.ts';
import { startLink } from '../link.ts';
import { keep, kept } from '../preferences.ts';
import { readText } from '../read-text.ts';

/** The bar of a page of one text. @param text the exact text, where the server can't give it */
export function startToolbar(content: HTMLElement, text?: () => string): void {
  startCopy(element('copy', HTMLButtonElement), content, text);
  startMarkdown(content);
  startBar();
}

/** What the bar has for the whole page. */
export function startBar(): void {
  startWrap();
  startQr();
  const tabs = optional('tab-form', HTMLFormElement);
  if (tabs !== null) startTabSize(tabs);
  startShare();
  optional('language', HTMLFormElement)?.addEventListener('change', ({ currentTarget }) =>
    (currentTarget as HTMLFormElement).requestSubmit(),
  );
}

/**
 * Copies the exact text from the server: the page folds long lines and shows some characters differently. A
 * page without an address of the text is the only one that shows it. The codes that colour a terminal's output
 * are no part of the text, as in a copy from a terminal.
 */
export function startCopy(button: HTMLButtonElement, content: HTMLElement, text?: () => string): void {
  const { raw } = button.dataset;
  const read = text ?? (() => (raw === undefined ? textOf(content) : readText(raw)));
  startCopyOf(button, async () => shownOf(content, await read()));
}

function shownOf({ dataset }: HTMLElement, text: string): string {
  return ['', 'text'].includes(dataset['language'] ?? '') ? withoutColours(text) : text;
}

function startCopyOf(button: HTMLButtonElement, text: () => string | Promise<string>): void {
  const { done = '', failed = '' } = button.dataset;
  button.hidden = false;
  button.addEventListener('click', () => void copyShown(button, text, { done, failed }));
}

async function textOf(content: HTMLElement): Promise<string> {
  const { shownText } = await import('./shown-text.ts');
  return shownText(content);
}

/** The choice holds for all pages. Without one, phones wrap. */
function startWrap(): void {
  const button = element('wrap', HTMLButtonElement);
  const narrow = matchMedia('(max-width: 640px)');
  const isWrapped = (): boolean => (kept('wrap') ?? (narrow.matches ? 'on' : 'off')) === 'on';
  const show = (): void => button.setAttribute('aria-pressed', String(isWrapped()));
  show();
  narrow.addEventListener('change', show);
  button.hidden = false;
  button.addEventListener('click', () => {
    const wrap = button.ariaPressed === 'true' ? 'off' : 'on';
    document.documentElement.dataset['wrap'] = wrap;
    button.ariaPressed = wrap === 'on' ? 'true' : 'false';
    keep('wrap', wrap);
  });
}

function startQr(): void {
  const button = optional('qr', HTMLButtonElement);
  if (button === null) return;
  let shown: SVGElement | null = null;
  button.hidden = false;
  const toggle = async (): Promise<void> => {
    const { url = '', label = '' } = button.dataset;
    if (shown === null) {
      const { qrCode } = await import('./qr.ts');
      shown = qrCode(url, label);
      button.closest('.bar')?.after(shown);
    } else {
      shown.remove();
      shown = null;
    }
    button.setAttribute('aria-expanded', String(shown !== null));
  };
  button.addEventListener('click', () => void toggle());
}

/** What stands on no page of a text that was deleted by its read, and in part on that of an encrypted one. */
function startShare(): void {
  const [link, lines, curl] = ['copy-link', 'copy-lines', 'copy-curl'].map((id) =>
    optional(id, HTMLButtonElement),
  );
  if (link) startLink(link);
  if (lines) startLink(lines, () => location.hash).hidden = true; // until lines are selected
  if (curl) startCopyOf(curl, () => element('curl', HTMLElement).textContent);
}

function startMarkdown(content: HTMLElement): void {
  const button = optional('copy-markdown', HTMLButtonElement);
  if (button === null) return;
  const { raw = '' } = element('copy', HTMLElement).dataset;
  const { language = '' } = content.dataset;
  startCopyOf(button, async () => {
    const [{ asMarkdown }, text] = await Promise.all([import('./as-markdown.ts'), readText(raw)]);
    return asMarkdown(shownOf(content, text), language);
  });
}

/** Whoever has the delete token edits as the owner does, and looks for it beside the other buttons. */
export function showEdit(): void {
  const edit = document.querySelector('.bar .edit');
  if (edit !== null) edit.closest('.bar')?.prepend(edit);
}

/** The choice holds for all pages. Without one, the language decides. */
function startTabSize(form: HTMLFormElement): void {
  const select = element('tabs', HTMLSelectElement);
  const show = (): void => {
    select.value = kept('tabs') ?? '';
  };
  show();
  addEventListener('pageshow', show); // the browser may restore what another paste had
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  select.addEventListener('change', () => {
    keep('tabs', select.value);
    document.documentElement.dataset['tabs'] = select.value;
  });
}
