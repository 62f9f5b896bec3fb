import { keyOfFragment, parseSealedText, type SealedDocument, type SecretKey } from '@pasteflow/sealed';
import { element, optional } from '../element.ts';
import { fetchDocument, type FetchFailure } from './fetch-document.ts';
import { HeldPaste } from './held-paste.ts';
import { fail, say } from './messages.ts';
import { OnlyCopy } from './only-copy.ts';
import { wordsOf, type SealedWords } from './sealed-words.ts';

/** `held`: null when the document has a form that this page doesn't know. */
interface Loaded {
  readonly held: HeldPaste | null;
}

/**
 * Fetches the document, decrypts it with the key in the address, and shows the text. The key stays in this page: a browser sends no part of
 * an address behind `#`.
 */
export function startSealedPaste(box: HTMLElement): void {
  element('needs-script', HTMLElement).remove();
  const words = wordsOf(box);
  let loaded: Loaded | null = null;
  addEventListener('hashchange', () => void followAddress(loaded, words));
  const key = keyOfFragment(location.hash);
  if (key === null) {
    fail(words.noKey);
    return;
  }
  const reveal = optional('reveal', HTMLButtonElement);
  const start = async (): Promise<void> => {
    loaded = await load(box, words, keyOfFragment(location.hash) ?? key);
    await loaded?.held?.start();
  };
  if (reveal === null) {
    void start();
    return;
  }
  reveal.hidden = false;
  reveal.addEventListener('click', () => {
    reveal.disabled = true;
    void start().then(() => (loaded === null ? (reveal.disabled = false) : reveal.remove()));
  });
}

/** Somebody has changed the address behind `#`. A reload would lose a document that the server no longer has. */
async function followAddress(loaded: Loaded | null, words: SealedWords): Promise<void> {
  if (loaded === null) {
    location.reload(); // somebody has added the key that was missing
    return;
  }
  const { held } = loaded;
  if (held === null || held.isOpen) return;
  const key = keyOfFragment(location.hash);
  if (key === null) fail(words.noKey);
  else await held.changeKey(key);
}

/** @returns null when the server has not sent the document */
async function load(box: HTMLElement, words: SealedWords, key: SecretKey): Promise<Loaded | null> {
  say(words.loading);
  const { document: url = '', method = 'GET' } = box.dataset;
  const fetched = await fetchDocument(url, method);
  if (typeof fetched !== 'string') {
    say('');
    fail(messageOf(fetched, words));
    return null;
  }
  const onlyCopy = method === 'GET' ? null : new OnlyCopy(fetched, words);
  const document = parsed(fetched);
  if (document !== null) return { held: new HeldPaste({ document, key, box, words, onlyCopy }) };
  say('');
  onlyCopy?.explain();
  fail(words.unknownFormat);
  return { held: null };
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
