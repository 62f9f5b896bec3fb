import { element } from '../element.ts';
import { say, type SealedWords } from './messages.ts';

/**
 * The server has deleted the paste when it sent this document. Until the document is opened, the page offers
 * it as a file, which `pasteflow cat --from` decrypts, and the browser asks before it leaves the page.
 */
export class OnlyCopy {
  readonly #words: SealedWords;

  constructor(text: string, words: SealedWords) {
    this.#words = words;
    element('attachments', HTMLElement).replaceChildren(linkTo(text, words));
    addEventListener('beforeunload', askBeforeLeaving);
  }

  /** For the time in which the text can't be shown. */
  explain(): void {
    say(this.#words.onlyCopy);
  }

  /** The text is shown, and the link is gone. */
  release(): void {
    removeEventListener('beforeunload', askBeforeLeaving);
  }
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function linkTo(text: string, words: SealedWords): HTMLElement {
  const link = document.createElement('a');
  link.className = 'button';
  link.download = 'encrypted-paste.json';
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.textContent = words.saveDocument;
  return link;
}
