import {
  type Attachment,
  type Message,
  openSealed,
  type SealedPaste,
  type SecretKey,
  TooMuchContentError,
  WrongKeyError,
} from '@pasteflow/sealed';
import { fileNameOf, languageOf } from '@pasteflow/domain';
import { element, optional } from '../element.ts';
import { ask, fail, say, type SealedWords } from './messages.ts';
import { tabSizeOf } from '../../src/content/tab-size.ts';
import { PasteLines } from '../../src/content/paste-lines.ts';
import { startHighlighting } from '../highlight/painter.ts';
import { startNumbers } from '../paste/start-lines.ts';
import { startBar, startToolbar } from '../paste/toolbar.ts';
import { warnings } from './warnings.ts';

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
      // Without a network the files of a paste that was just deleted can be downloaded.
      const several = message.attachments.length > 1 ? await loadFiles().catch(() => null) : null;
      if (this.isOpen) return; // by a password that was entered while this one was tried
      showMessage(message, { words, several });
      box.hidden = false;
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

const loadFiles = () => import('./sealed-files.ts');

/**
 * Shows a decrypted message as the page of any other paste shows its text, or its files.
 * @param several what shows files; null: they are downloads alone
 */
function showMessage(
  message: Message,
  {
    words,
    several,
  }: { readonly words: SealedWords; readonly several: Awaited<ReturnType<typeof loadFiles>> | null },
): void {
  const { text, attachments, title } = message;
  if (title !== null) showTitle(title);
  if (several !== null) {
    addKeyToLinks();
    startBar();
    several.showFiles(filesOf(message), title, words);
    return;
  }
  element('attachments', HTMLElement).replaceChildren(
    ...attachments.map((each) => attachmentLink(each, words)),
  );
  if (text !== '' || attachments.length === 0) showText(message, words);
}

/** The text that other clients write beside attachments stands before them. */
function filesOf({ text, attachments, title, syntax }: Message): readonly Attachment[] {
  if (text === '') return attachments;
  return [
    { name: fileNameOf(title, 'paste'), bytes: new TextEncoder().encode(text), syntax },
    ...attachments,
  ];
}

/** The server has made the links without the key. */
function addKeyToLinks(): void {
  for (const id of ['qr', 'copy-link']) {
    const button = optional(id, HTMLButtonElement); // a paste that was read once has no link any more
    if (button !== null) button.dataset['url'] = `${button.dataset['url'] ?? ''}${location.hash}`;
  }
}

function showTitle(title: string): void {
  const heading = document.querySelector('h1 bdi');
  if (heading !== null) heading.textContent = title;
}

function showText({ text, title, syntax }: Message, words: SealedWords): void {
  const content = element('content', HTMLElement);
  const extension = /\.([\w+#-]{1,20})$/.exec(location.pathname)?.[1] ?? null;
  const language = languageOf({ syntax: extension ?? syntax, title }, text)?.id ?? '';
  const lines = new PasteLines('utf-8', language);
  const markup = lines.push(new TextEncoder().encode(text)) + lines.end();
  content.replaceChildren(
    ...new DOMParser().parseFromString(markup, 'text/html').body.children,
    ...warnings(lines.warnings, words),
  );
  content.dataset['language'] = language;
  content.dataset['tab'] = String(tabSizeOf(language));
  element('opened', HTMLElement).hidden = false;
  const download = element('download', HTMLAnchorElement);
  download.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  if (title !== null) download.download = fileNameOf(title, 'paste');
  addKeyToLinks();
  startToolbar(content, () => text);
  startNumbers(content);
  startHighlighting(content, [...content.querySelectorAll<HTMLElement>('.chunk')]);
}

/** A download, whatever its name says: nothing of an attachment is shown or run. */
function attachmentLink({ name, bytes }: Attachment, words: SealedWords): HTMLElement {
  const link = document.createElement('a');
  link.className = 'button';
  link.download = name;
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.textContent = words.attachment.replace('NAME', name);
  return link;
}
