import { fileNameProblems, MIN_FILES, normalFileName, type PasteFile } from '@pasteflow/domain';
import { element, optional } from '../element.ts';
import { FileBlock } from './file-block.ts';
import type { DraftFile, FormFile } from './form-file.ts';

interface FormFilesEvents {
  /** A file is added, opened or removed. */
  readonly onChange: () => void;
  /** While the form is sent, and after that, no file is taken. */
  readonly isBusy: () => boolean;
}

/** A title such as `notes.md`. */
const NAME_OF_A_FILE = /^[^\s/]+\.[A-Za-z0-9]{1,10}$/;

/**
 * The files of the form: typed, chosen, dropped anywhere on the page, or pasted into a text. A form without files has
 * the one text, which becomes the first of them.
 */
export class FormFiles {
  readonly #list = element('files', HTMLDivElement);
  readonly #template = element('file-template', HTMLTemplateElement);
  readonly #editor: HTMLElement;
  readonly #text = element('text', HTMLTextAreaElement);
  /** What is sent for a request has neither. */
  readonly #title = optional('title', HTMLInputElement);
  readonly #syntax = optional('syntax', HTMLSelectElement);
  readonly #input = element('file', HTMLInputElement);
  readonly #add = element('add-file', HTMLButtonElement);
  readonly #events: FormFilesEvents;
  #blocks: readonly FileBlock[] = [];

  constructor(events: FormFilesEvents) {
    this.#events = events;
    this.#editor = this.#list.parentElement ?? this.#list;
    for (const each of this.#syntax?.options ?? [])
      this.#template.content.querySelector('select')?.append(each.cloneNode(true));
    this.#input.addEventListener('change', () => {
      this.#take([...(this.#input.files ?? [])]);
      this.#input.value = ''; // the list has them
    });
    this.#add.hidden = false;
    this.#add.addEventListener('click', () => this.#addText());
    this.#editor.addEventListener('paste', (event) => {
      const { clipboardData: data } = event;
      if (data !== null && !hasText(data)) this.#takeFrom(event, data.files);
    });
    document.addEventListener('dragover', (event) => this.#onDrag(event));
    document.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) this.#editor.classList.remove('dragging'); // the drag has left the window
    });
    document.addEventListener('drop', (event) => {
      this.#editor.classList.remove('dragging');
      this.#takeFrom(event, event.dataTransfer?.files);
    });
  }

  /** Whether the form has files in place of the one text. */
  get areUsed(): boolean {
    return this.#blocks.length > 0;
  }

  /** How many would be sent. */
  get count(): number {
    return this.#filled.length;
  }

  get #filled(): readonly FileBlock[] {
    return this.#blocks.filter((block) => !block.isEmpty);
  }

  /** Whether `draft` has everything. */
  get areKept(): boolean {
    return this.#blocks.every((block) => block.isKept);
  }

  get draft(): readonly DraftFile[] {
    return this.#blocks.map((block) => block.draft).filter((each) => each !== null);
  }

  /** @param content of the paste that the form starts from; null: there is none */
  restore(draft: readonly DraftFile[], content: Blob | null): void {
    for (const { range, ...file } of draft) {
      const bytes = range === null ? null : (content?.slice(range.offset, range.offset + range.size) ?? null);
      if (bytes !== null || file.text !== null) this.#append({ ...file, bytes, range });
    }
    this.#show();
  }

  async sent(): Promise<readonly FormFile[]> {
    return await Promise.all(this.#filled.map((block) => block.sent()));
  }

  /** Shows beside each file of several why its name is refused. @returns whether one is */
  refuseNames(sent: readonly FormFile[]): boolean {
    const names = sent.map(({ name }) => normalFileName(name));
    const problems = sent.length < MIN_FILES ? [] : fileNameProblems(names);
    const blocks = this.#filled;
    for (const { index, message } of problems) blocks[index]?.refuse(message);
    const [first] = problems;
    if (first !== undefined) blocks[first.index]?.focus();
    return first !== undefined;
  }

  set readOnly(isReadOnly: boolean) {
    for (const block of this.#blocks) {
      block.readOnly = isReadOnly;
      if (isReadOnly) block.refuse('');
    }
  }

  /** Otherwise the browser would open the file in place of the form. */
  #onDrag(event: DragEvent): void {
    if (event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    if (!this.#events.isBusy()) this.#editor.classList.add('dragging');
  }

  #takeFrom(event: Event, files: FileList | undefined): void {
    if (files === undefined || files.length === 0) return;
    event.preventDefault();
    this.#take([...files]);
  }

  #take(files: readonly File[]): void {
    if (files.length === 0 || this.#events.isBusy()) return;
    if (this.#text.value !== '') this.#beginWithText();
    for (const file of files) this.#append({ name: this.#unused(file.name), bytes: file });
    this.#changed();
  }

  #addText(): void {
    if (this.#events.isBusy()) return;
    if (!this.areUsed) this.#beginWithText();
    const added = this.#append({ name: '' });
    this.#changed();
    added.focus(); // the list may have been hidden
  }

  /** The one text becomes a file. A title that is the name of a file moves with it. */
  #beginWithText(): void {
    if (this.areUsed) return;
    const title = this.#title?.value ?? '';
    const isName = NAME_OF_A_FILE.test(title);
    this.#append({ name: isName ? title : '', text: this.#text.value, syntax: this.#syntax?.value ?? '' });
    if (isName && this.#title !== null) this.#title.value = '';
    this.#text.value = '';
  }

  #append(given: ConstructorParameters<typeof FileBlock>[1]): FileBlock {
    const block = new FileBlock(this.#template, given);
    block.remove.addEventListener('click', () => this.#remove(block));
    this.#blocks = [...this.#blocks, block];
    this.#list.append(block.element);
    return block;
  }

  #remove(block: FileBlock): void {
    if (this.#events.isBusy()) return;
    const index = this.#blocks.indexOf(block);
    this.#blocks = this.#blocks.filter((each) => each !== block);
    block.element.remove();
    this.#changed();
    const next = this.#blocks[Math.min(index, this.#blocks.length - 1)];
    if (next === undefined) this.#text.focus();
    else next.focus();
  }

  #changed(): void {
    this.#show();
    this.#events.onChange();
  }

  #show(): void {
    const { areUsed } = this;
    this.#list.hidden = !areUsed;
    this.#text.hidden = areUsed;
    const field = this.#syntax?.closest<HTMLElement>('.field') ?? null;
    if (field !== null) field.hidden = areUsed; // each file has a language of its own
    for (const [index, block] of this.#blocks.entries()) block.number = index + 1;
  }

  /** Pictures in a clipboard all have one name, and files of different folders can have the same. */
  #unused(name: string): string {
    const taken = new Set(this.#blocks.map((block) => block.name.toLowerCase()));
    const [, stem = name, extension = ''] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? [];
    let unused = name;
    for (let number = 2; taken.has(unused.toLowerCase()); number += 1)
      unused = `${stem} ${number}${extension}`;
    return unused;
  }
}

/** The files of the paste that the form starts from. @param list as JSON; undefined: it has none */
export function originFiles(list = '[]'): readonly DraftFile[] {
  return (JSON.parse(list) as readonly PasteFile[]).map(({ name, syntax, ...range }) => ({
    name,
    syntax: syntax ?? '',
    text: null,
    range,
  }));
}

/**
 * Cells of a spreadsheet come with a picture of them. The text of a file from a file manager is only the name
 * of the file.
 */
function hasText(data: DataTransfer): boolean {
  const text = data.getData('text/plain').trim();
  const isName = !data.types.includes('text/html') && text.endsWith([...data.files].at(-1)?.name ?? '');
  return text !== '' && !isName;
}
