import {
  canOpenSealed,
  keyOfFragment,
  parseSealedText,
  SealedFormatError,
  type SealedPaste,
  type SecretKey,
} from '@pasteflow/sealed';
import { element, optional } from '../element.ts';
import { HeldPaste, OnlyCopy } from './held-paste.ts';
import { fail, say, type SealedWords, wordsOf } from './messages.ts';

/** `held`: null when the document has a form that this page doesn't know. */
interface Loaded {
  readonly held: HeldPaste | null;
}

/**
 * Fetches the document, decrypts it with the key in the address, and shows the text. The key stays in this
 * page: a browser sends no part of an address behind `#`.
 */
export async function startSealedPaste(box: HTMLElement): Promise<void> {
  element('needs-script', HTMLElement).remove();
  const words = wordsOf(box);
  if (!(await canOpenSealed())) {
    fail(isSecureContext ? words.outdated : words.insecure);
    return;
  }
  let loaded: Loaded | null = null;
  let hasTriedReveal = false;
  addEventListener('hashchange', () => {
    // The page must keep the key of a reveal: only that key repeats the reveal. Without one, somebody has
    // added the key that was missing.
    if (loaded !== null) void followAddress(loaded, words);
    else if (!hasTriedReveal) location.reload();
  });
  const key = keyOfFragment(location.hash);
  if (key === null) {
    fail(words.noKey);
    return;
  }
  const reveal = optional('reveal', HTMLButtonElement);
  const start = async (): Promise<void> => {
    loaded = await load(box, words, key);
    await loaded?.held?.start();
  };
  if (reveal === null) {
    void start();
    return;
  }
  reveal.hidden = false;
  element('once', HTMLElement).hidden = false;
  reveal.addEventListener('click', () => {
    reveal.disabled = true;
    hasTriedReveal = true;
    optional('languages', HTMLFormElement)?.remove(); // its reload would lose the text
    void start().then(() => (loaded === null ? (reveal.disabled = false) : reveal.remove()));
  });
}

/**
 * Somebody has changed the address behind `#`. A reload would lose a document that the server no longer has.
 */
async function followAddress({ held }: Loaded, words: SealedWords): Promise<void> {
  if (held === null || held.isOpen) return;
  const key = keyOfFragment(location.hash);
  if (key === null) fail(words.noKey);
  else await held.changeKey(key);
}

/**
 * @param oldKey for an address that has no key any more
 * @returns null when the server has not sent the document
 */
async function load(box: HTMLElement, words: SealedWords, oldKey: SecretKey): Promise<Loaded | null> {
  say(words.loading);
  const { document: url = '', method = 'GET', user = '' } = box.dataset;
  const fetched = await fetchSealedPaste(url, { method, user });
  if (typeof fetched !== 'string') {
    say('');
    if (fetched.kind === 'gone') fail(words.gone);
    else fail(method === 'GET' ? words.unreachable : words.notRevealed);
    return null;
  }
  const key = keyOfFragment(location.hash) ?? oldKey; // somebody may have corrected the address meanwhile
  const onlyCopy = method === 'GET' ? null : new OnlyCopy(fetched, words);
  const document = parsed(fetched);
  if (!(document instanceof SealedFormatError))
    return { held: new HeldPaste({ document, key, box, words, onlyCopy }) };
  say('');
  onlyCopy?.explain();
  fail(`${words.notShown} (${document.message})`);
  return { held: null };
}

function parsed(text: string): SealedPaste | SealedFormatError {
  try {
    return parseSealedText(text);
  } catch (error) {
    if (error instanceof SealedFormatError) return error;
    throw error;
  }
}

/** `gone`: somebody else has read the paste, or it was deleted. */
interface FetchFailure {
  readonly kind: 'gone' | 'unreachable';
}

/** For the requests of this page: with the same key, a reveal whose answer broke off is repeated. */
const readerKey = randomKey();

const TRIES_OF_REVEAL = 4;
const WAIT_MS = 1000;

/**
 * The text of the document. A POST reads a paste that is deleted when it is read, and is repeated when its
 * answer breaks off.
 * @param options.user who has been told what the owner will see; empty: nobody who is signed in
 */
async function fetchSealedPaste(
  url: string,
  { method, user }: { readonly method: string; readonly user: string },
): Promise<string | FetchFailure> {
  const isReveal = method === 'POST';
  const headers: Record<string, string> = isReveal ? { 'Idempotency-Key': readerKey, 'Form-User': user } : {};
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await fetch(url, { method, headers });
      if (response.ok) return await response.text();
      if (response.status === 410 || response.status === 451) return { kind: 'gone' };
      if (response.status === 409) location.reload(); // somebody has signed in or out: the page tells it anew
    } catch {
      // no answer, or a part of one
    }
    if (!isReveal || tries === TRIES_OF_REVEAL) return { kind: 'unreachable' };
    await new Promise((resolve) => setTimeout(resolve, tries * WAIT_MS));
  }
}

/** Not randomUUID(), which browsers provide on secure origins only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
