import { languageNamed } from '@pasteflow/domain';
import { SyntaxField } from './fields.ts';
import type { DraftFile, FileRange, FormFile } from './form-file.ts';
import { listenToKeys } from './text-keys.ts';

/** A longer text is not shown. */
const MAX_SHOWN_BYTES = 256 * 1024;

/** What a block begins with. */
interface GivenFile {
  readonly name: string;
  readonly syntax?: string | null;
  /** What was typed; null: the text of the bytes, if they are one. */
  readonly text?: string | null;
  readonly bytes?: Blob | null;
  readonly range?: FileRange | null;
}

const inBytes = new Intl.NumberFormat(document.documentElement.lang, {
  style: 'unit',
  unit: 'byte',
  unitDisplay: 'long',
});

/** A file in the form: its name, its language, and its text or, for other bytes, their size. */
export class FileBlock {
  readonly element: HTMLElement;
  readonly remove: HTMLButtonElement;
  readonly #name: HTMLInputElement;
  readonly #text: HTMLTextAreaElement;
  readonly #size: HTMLElement;
  readonly #error: HTMLElement;
  readonly #syntax: SyntaxField;
  readonly #bytes: Blob | null;
  readonly #range: FileRange | null;
  /** The text of the bytes, as the field shows it. Where it is unchanged, the bytes are sent. */
  #shown = '';
  #number = 1;
  #isOpened = false;
  readonly #opened: Promise<void>;

  constructor(
    template: HTMLTemplateElement,
    { name, syntax, text = null, bytes = null, range = null }: GivenFile,
  ) {
    const content = template.content.cloneNode(true) as DocumentFragment;
    const part = <T extends Element>(selector: string): T => {
      const found = content.querySelector<T>(selector);
      if (found === null) throw new Error(`The template has no ${selector}.`);
      return found;
    };
    this.element = part('fieldset');
    this.remove = part('button');
    this.#name = part('input');
    this.#text = part('textarea');
    this.#size = part('.size');
    this.#error = part('.field-error');
    const read = () => ({ names: [this.#name.value], text: this.#text.value });
    this.#syntax = new SyntaxField(part('select'), read, () => this.#label());
    this.#name.value = name;
    this.#syntax.select.value = syntax ?? '';
    this.#text.value = text ?? '';
    this.#bytes = bytes;
    this.#range = range;
    listenToKeys(this.#text);
    this.element.addEventListener('input', () => this.#syntax.changed());
    this.#name.addEventListener('input', () => this.refuse(''));
    this.#opened = this.#open(text);
    if (bytes !== null) {
      this.#size.textContent = inBytes.format(bytes.size);
      this.#text.hidden = true;
    }
    this.#syntax.changed();
  }

  get name(): string {
    return this.#name.value;
  }

  /** From 1. A file that nobody names has it in its name. */
  set number(number: number) {
    this.#number = number;
    this.#label();
  }

  /** Nobody has entered anything. */
  get isEmpty(): boolean {
    return this.name === '' && this.#text.value === '' && this.#bytes === null;
  }

  /** Whether `draft` has everything. A browser gives no page its files again. */
  get isKept(): boolean {
    if (this.#bytes === null || this.#range !== null) return true;
    const isText = this.#isOpened && !this.#text.hidden;
    return isText && (this.#isEdited || new Blob([this.#text.value]).size === this.#bytes.size);
  }

  get draft(): DraftFile | null {
    if (this.#text.hidden && this.#range === null) return null;
    const text = this.#text.hidden ? null : this.#text.value;
    return { name: this.name, syntax: this.#syntax.select.value, text, range: this.#range };
  }

  set readOnly(isReadOnly: boolean) {
    this.#text.readOnly = isReadOnly;
    this.#name.readOnly = isReadOnly;
  }

  async sent(): Promise<FormFile> {
    await this.#opened;
    this.#label();
    const content = this.#bytes === null || this.#isEdited ? new Blob([this.#text.value]) : this.#bytes;
    return { name: this.name || this.#name.placeholder, syntax: this.#syntax.select.value, content };
  }

  focus(): void {
    this.#name.focus();
  }

  /** Shows beside the name why it is refused. @param reason in English, of which the name is the subject; empty: it is not */
  refuse(reason: string): void {
    const [before = '', after = ''] = (this.#error.dataset['refused'] ?? '').split('{reason}');
    const said = Object.assign(document.createElement('span'), {
      lang: 'en',
      dir: 'ltr',
      textContent: reason,
    });
    this.#error.replaceChildren(...(reason === '' ? [] : [before, said, after]));
    if (reason === '') this.#name.removeAttribute('aria-invalid');
    else this.#name.setAttribute('aria-invalid', 'true');
  }

  get #isEdited(): boolean {
    return this.#text.value !== this.#shown;
  }

  /** @param typed what was made of the text of the bytes; null: nothing */
  async #open(typed: string | null): Promise<void> {
    const text = this.#bytes === null ? '' : await textOf(this.#bytes);
    this.#isOpened = true;
    this.#syntax.select.hidden = text === null;
    if (text === null || this.#bytes === null) return;
    this.#size.hidden = true;
    this.#text.hidden = false;
    this.#text.value = text;
    this.#shown = this.#text.value; // its newlines are LF
    this.#text.value = typed ?? this.#shown;
    this.#syntax.changed();
  }

  /** Names the parts of the block, and the file that nobody names. */
  #label(): void {
    const language = this.name === '' ? languageNamed(this.#syntax.value) : null;
    this.#name.placeholder = `file${this.#number}.${language?.extensions[0] ?? 'txt'}`;
    const name = this.name || this.#name.placeholder;
    this.element.setAttribute('aria-label', name);
    this.remove.setAttribute(
      'aria-label',
      (this.remove.dataset['label'] ?? '').replace('{name}', () => name),
    );
  }
}

/** null: no text in UTF-8, or one that is too long to be shown. Bytes after a byte order mark are read with it. */
async function textOf(bytes: Blob): Promise<string | null> {
  if (bytes.size > MAX_SHOWN_BYTES) return null;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = decoder.decode(await bytes.arrayBuffer());
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
