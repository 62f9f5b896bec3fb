import {
  openSealed,
  type SealedPaste,
  type SecretKey,
  TooMuchContentError,
  WrongKeyError,
} from '@pasteflow/sealed';
import { element } from '../element.ts';
import { ask, fail, say, type SealedWords } from './messages.ts';
import { showMessage } from './show-message.ts';

export interface HeldParts {
  readonly document: SealedPaste;
  readonly key: SecretKey;
  readonly box: HTMLElement;
  readonly words: SealedWords;
  /** null: the server still has the document. */
  readonly onlyCopy: OnlyCopy | null;
}

/** A document that is here: no number of wrong passwords and keys needs another request. */
export class HeldPaste {
  readonly #parts: HeldParts;
  #key: SecretKey;
  /** Whether the text is shown. */
  isOpen = false;

  constructor(parts: HeldParts) {
    this.#parts = parts;
    this.#key = parts.key;
    this.#askForPassword();
  }

  /** Tries without a password first. */
  async start(): Promise<void> {
    await this.#tryWith('', this.#parts.words.askPassword);
  }

  /** Somebody has corrected the key in the address. */
  async changeKey(key: SecretKey): Promise<void> {
    this.#key = key;
    fail('');
    await this.#tryWith(element('password', HTMLInputElement).value, this.#parts.words.wrong);
  }

  #askForPassword(): void {
    const form = element('unlock', HTMLFormElement);
    const button = element('decrypt', HTMLButtonElement);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      button.disabled = true;
      fail('');
      const { value: password } = element('password', HTMLInputElement);
      void this.#tryWith(password, this.#parts.words.wrong).finally(() => (button.disabled = false));
    });
  }

  /**
   * @param refusal what to say when the key or the password is wrong: then the form for the password is shown
   */
  async #tryWith(password: string, refusal: string): Promise<void> {
    const { document, box, words, onlyCopy } = this.#parts;
    say(words.decrypting);
    try {
      const message = await openSealed(document, this.#key, { password });
      if (this.isOpen) return; // by a password that was entered while this one was tried
      showMessage(message, box, words);
      this.isOpen = true;
      element('unlock', HTMLFormElement).remove();
      fail('');
      say('');
    } catch (error) {
      if (this.isOpen) return;
      say('');
      onlyCopy?.explain();
      if (error instanceof WrongKeyError) {
        element('unlock', HTMLFormElement).hidden = false;
        element('password', HTMLInputElement).focus();
        if (refusal === words.askPassword) ask(refusal);
        else fail(refusal);
      } else if (error instanceof TooMuchContentError) fail(words.tooLarge);
      else fail(`${words.notShown} (${String(error)})`);
    }
  }
}

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
