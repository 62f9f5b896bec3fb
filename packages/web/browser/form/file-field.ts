import { element } from '../element.ts';

interface FileFieldEvents {
  /** Another file is chosen, or none any more. */
  readonly onChange: () => void;
  /** Whether several files can become one paste each. */
  readonly canEach: () => boolean;
  readonly onEach: (files: readonly File[]) => void;
  /** While the form is sent, and after that, no file is taken. */
  readonly isBusy: () => boolean;
}

const inBytes = new Intl.NumberFormat(document.documentElement.lang, {
  style: 'unit',
  unit: 'byte',
  unitDisplay: 'long',
});

/**
 * A file that is chosen, dropped anywhere on the page, or pasted into the text. Its name is the title until
 * somebody writes another one.
 */
export class FileField {
  readonly #input = element('file', HTMLInputElement);
  readonly #title = element('title', HTMLInputElement);
  readonly #remove = element('remove-file', HTMLButtonElement);
  readonly #status = element('form-status', HTMLElement);
  readonly #text: HTMLTextAreaElement;
  readonly #events: FileFieldEvents;
  /**
   * The title that the file gave. It goes with the file: otherwise the name of a file that is not sent would
   * be published.
   */
  #givenTitle = '';

  constructor(text: HTMLTextAreaElement, events: FileFieldEvents) {
    this.#text = text;
    this.#events = events;
    this.#input.multiple = true; // without this module a form has one file
    this.#input.addEventListener('change', () => {
      const files = [...(this.#input.files ?? [])];
      if (files.length > 1) this.#set(new DataTransfer().files);
      if (files.length > 1) void this.#takeSeveral(files);
      else this.#use();
    });
    this.#remove.addEventListener('click', () => {
      this.#set(new DataTransfer().files);
      this.#input.focus();
    });
    text.addEventListener('paste', (event) => this.#onPaste(event));
    document.addEventListener('dragover', (event) => this.#onDrag(event));
    document.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) text.classList.remove('dragging'); // the drag has left the window
    });
    document.addEventListener('drop', (event) => {
      text.classList.remove('dragging');
      this.#take(event, event.dataTransfer?.files);
    });
  }

  get chosen(): File | undefined {
    return this.#input.files?.[0];
  }

  get gaveTitle(): boolean {
    return this.#title.value === this.#givenTitle;
  }

  show(): void {
    const { chosen } = this;
    this.#status.textContent = chosen === undefined ? '' : `${chosen.name} (${inBytes.format(chosen.size)})`;
    this.#remove.hidden = chosen === undefined;
  }

  #use(): void {
    this.show();
    const name = this.chosen?.name.slice(0, this.#title.maxLength) ?? '';
    if (this.gaveTitle) this.#title.value = name;
    this.#givenTitle = name;
    this.#events.onChange();
  }

  /** Otherwise the browser would open the file in place of the form. */
  #onDrag(event: DragEvent): void {
    if (event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    if (!this.#events.isBusy()) this.#text.classList.add('dragging');
  }

  #onPaste(event: ClipboardEvent): void {
    const { clipboardData: data } = event;
    if (data !== null && !hasText(data)) this.#take(event, data.files);
  }

  #take(event: Event, files: FileList | undefined): void {
    if (files === undefined || files.length === 0) return;
    event.preventDefault();
    if (this.#events.isBusy()) return;
    if (files.length === 1) this.#set(files);
    else void this.#takeSeveral([...files]);
  }

  async #takeSeveral(files: readonly File[]): Promise<void> {
    const choice = await askAboutSeveral(files.length, this.#events.canEach());
    if (choice === 'each') this.#events.onEach(files);
    if (choice !== 'archive') return;
    const transfer = new DataTransfer();
    transfer.items.add(await zipOf(files));
    this.#set(transfer.files);
  }

  #set(files: FileList): void {
    this.#input.files = files;
    this.#input.dispatchEvent(new Event('change', { bubbles: true }));
  }
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

type Choice = 'archive' | 'each' | '';

/** The texts of the dialog. */
export function wordsOfSeveral(): Readonly<Record<string, string>> {
  return JSON.parse(element('several', HTMLDialogElement).dataset['words'] ?? '{}') as Record<string, string>;
}

/** Asks what several files are to become. @param canEach they can become one paste each */
async function askAboutSeveral(count: number, canEach: boolean): Promise<Choice> {
  const dialog = element('several', HTMLDialogElement);
  const { title = '' } = wordsOfSeveral();
  element('several-title', HTMLElement).textContent = title.replace('{count}', String(count));
  for (const each of dialog.querySelectorAll<HTMLButtonElement>('[value=each]')) each.hidden = !canEach;
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue as Choice;
}

/** Files of different folders can have the same name. */
async function zipOf(files: readonly File[]): Promise<File> {
  const { downloadZip } = await import('client-zip');
  const taken = new Set<string>();
  const entries = files.map((input) => {
    let { name } = input;
    for (let number = 2; taken.has(name); number += 1) name = `${number} ${input.name}`;
    taken.add(name);
    return { name, input };
  });
  return new File([await downloadZip(entries).blob()], 'files.zip');
}
