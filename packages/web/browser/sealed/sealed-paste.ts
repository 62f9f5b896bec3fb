import {
  keyOfFragment,
  openSealed,
  parseSealedText,
  TooMuchContentError,
  WrongKeyError,
  type SealedDocument,
  type SecretKey,
} from '@pasteflow/sealed';
import { element, optional } from '../element.ts';
import { fetchDocument, type FetchFailure } from './fetch-document.ts';
import { wordsOf, type SealedWords } from './sealed-words.ts';
import { showMessage } from './show-message.ts';

/**
 * Fetches the document, decrypts it with the key in the address, and shows the text. The key stays in this page: a browser sends no part of
 * an address behind `#`.
 */
export function startSealedPaste(box: HTMLElement): void {
  element('needs-script', HTMLElement).remove();
  const words = wordsOf(box);
  const key = keyOfFragment(location.hash);
  addEventListener('hashchange', () => location.reload()); // somebody has added the key that was missing
  if (key === null) {
    fail(words.noKey);
    return;
  }
  const reveal = optional('reveal', HTMLButtonElement);
  if (reveal === null) {
    void load(box, words, key);
    return;
  }
  reveal.hidden = false;
  reveal.addEventListener('click', () => {
    reveal.disabled = true;
    void load(box, words, key).then((loaded) => (loaded ? reveal.remove() : (reveal.disabled = false)));
  });
}

/** @returns whether the document is here: from then on, no request is needed */
async function load(box: HTMLElement, words: SealedWords, key: SecretKey): Promise<boolean> {
  say(words.loading);
  const { document: url = '', method = 'GET' } = box.dataset;
  const fetched = await fetchDocument(url, method);
  if (typeof fetched !== 'string') {
    fail(messageOf(fetched, words));
    return false;
  }
  const document = parsed(fetched);
  if (document === null) {
    fail(words.unknownFormat);
    return true;
  }
  askForPassword(document, key, box, words);
  if (!(await open(document, key, { password: '', box, words }))) fail(words.askPassword);
  return true;
}

function messageOf(failure: FetchFailure, { unreachable, gone }: SealedWords): string {
  return failure.kind === 'gone' ? gone : unreachable;
}

function parsed(text: string): SealedDocument | null {
  try {
    return parseSealedText(text);
  } catch {
    return null;
  }
}

interface Attempt {
  readonly password: string;
  readonly box: HTMLElement;
  readonly words: SealedWords;
}

/** @returns false when the key or the password is wrong: then the form for the password is shown */
async function open(
  document: SealedDocument,
  key: SecretKey,
  { password, box, words }: Attempt,
): Promise<boolean> {
  const form = element('unlock', HTMLFormElement);
  say(words.decrypting);
  try {
    const message = await openSealed(document, key, { password });
    form.remove();
    fail('');
    say('');
    showMessage(message, box, words);
    return true;
  } catch (error) {
    say('');
    if (error instanceof WrongKeyError) {
      form.hidden = false;
      element('password', HTMLInputElement).focus();
      return false;
    }
    fail(error instanceof TooMuchContentError ? words.tooLarge : words.unknownFormat);
    return true;
  }
}

function askForPassword(
  document: SealedDocument,
  key: SecretKey,
  box: HTMLElement,
  words: SealedWords,
): void {
  const form = element('unlock', HTMLFormElement);
  const button = element('decrypt', HTMLButtonElement);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { value: password } = element('password', HTMLInputElement);
    button.disabled = true;
    fail('');
    void open(document, key, { password, box, words })
      .then((opened) => {
        if (!opened) fail(words.wrong);
      })
      .finally(() => (button.disabled = false));
  });
}

function say(text: string): void {
  element('sealed-status', HTMLElement).textContent = text;
}

function fail(text: string): void {
  const box = element('sealed-error', HTMLElement);
  box.replaceChildren(
    ...(text === ''
      ? []
      : [Object.assign(document.createElement('p'), { className: 'notice bad', textContent: text })]),
  );
}
