import { element } from '../element.ts';
import { say, type SealedWords } from './messages.ts';

/**
 * The server has deleted the paste when it sent this document. While the text can't be shown, the page offers
 * the document as a file, which `pasteflow cat --from` decrypts. The browser asks before it leaves the page,
 * until something was copied or downloaded.
 */
export class OnlyCopy {
  readonly #words: SealedWords;
  readonly #link: HTMLElement;

  constructor(text: string, words: SealedWords) {
    this.#words = words;
    this.#link = linkTo(text, words);
    element('once', HTMLElement).textContent = words.revealed;
    for (const untrue of document.querySelectorAll('[data-until-read]'))
      (untrue.closest('.line > span') ?? untrue).remove();
    addEventListener('beforeunload', askBeforeLeaving);
    addEventListener('copied', release);
    addEventListener('copy', release);
    addEventListener('click', ({ target }) => {
      if ((target as Element).closest('#sealed a[download]') !== null) release();
    });
  }

  /** For the time in which the text can't be shown. */
  explain(): void {
    say(this.#words.onlyCopy);
    element('attachments', HTMLElement).replaceChildren(this.#link);
  }
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function release(): void {
  removeEventListener('beforeunload', askBeforeLeaving);
}

function linkTo(text: string, words: SealedWords): HTMLElement {
  const link = document.createElement('a');
  link.className = 'button';
  link.download = 'encrypted-paste.json';
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.textContent = words.saveDocument;
  return link;
}
