import { copyShown } from '../copy.ts';
import { element, optional } from '../element.ts';

/** @param text the exact text, where the server can't give it */
export function startToolbar(content: HTMLElement, text?: () => string): void {
  startCopy(content, text);
  startWrap(content);
  startQr();
}

/**
 * Copies the exact text from the server: the page folds long lines and shows some characters differently. A
 * page without an address of the text is the only one that shows it.
 */
function startCopy(content: HTMLElement, text?: () => string): void {
  const button = element('copy', HTMLButtonElement);
  const { raw, done = '', failed = '' } = button.dataset;
  button.hidden = false;
  button.addEventListener(
    'click',
    () =>
      void copyShown(button, text ?? (() => (raw === undefined ? shownText(content) : readText(raw))), {
        done,
        failed,
      }),
  );
}

function shownText(content: HTMLElement): string {
  return [...content.querySelectorAll('pre')].map((each) => each.textContent).join('');
}

/** Response.text() would drop a byte order mark. */
async function readText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered with ${response.status}.`);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
}

function startWrap(content: HTMLElement): void {
  const button = element('wrap', HTMLButtonElement);
  button.hidden = false;
  button.addEventListener('click', () => {
    const wrapped = content.classList.toggle('wrapped');
    button.setAttribute('aria-pressed', String(wrapped));
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
      button.parentElement?.after(shown);
    } else {
      shown.remove();
      shown = null;
    }
    button.setAttribute('aria-expanded', String(shown !== null));
  };
  button.addEventListener('click', () => void toggle());
}
