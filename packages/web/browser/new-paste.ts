import { element } from './element.ts';
import { addKey, EncryptionOption } from './sealed/encryption-option.ts';

/** The form sends itself without this module. With it, the text goes byte for byte, and errors keep the text. */
const form = element('new-paste', HTMLFormElement);
const text = element('text', HTMLTextAreaElement);
const file = element('file', HTMLInputElement);
const title = element('title', HTMLInputElement);
const status = element('form-status', HTMLElement);
const failure = element('form-error', HTMLElement);
const submit = element('create', HTMLButtonElement);
/** Only for those who are signed in. */
const slug = document.getElementById('slug');
const encryption = new EncryptionOption();

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
text.addEventListener('keydown', onKey);
file.addEventListener('change', () => useFile());
for (const type of ['dragover', 'dragenter'] as const) text.addEventListener(type, onDrag);
for (const type of ['dragleave', 'drop'] as const)
  text.addEventListener(type, () => text.classList.remove('dragging'));
text.addEventListener('drop', onDrop);
text.addEventListener('paste', onPaste);
void fillFrom(form.dataset['from']);

/** Tab writes a tab. After Esc, Tab leaves the field, as everywhere else (WCAG 2.2, 2.1.2). */
let tabLeaves = false;
function onKey(event: KeyboardEvent): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === 'Escape') {
    tabLeaves = true;
  } else if (event.key === 'Tab' && !event.shiftKey && !tabLeaves && text.value !== '') {
    event.preventDefault();
    text.setRangeText('\t', text.selectionStart, text.selectionEnd, 'end');
  } else if (event.key !== 'Shift') {
    tabLeaves = false;
  }
}

function onDrag(event: DragEvent): void {
  if (!event.dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  text.classList.add('dragging');
}

function onDrop(event: DragEvent): void {
  takeFiles(event, event.dataTransfer?.files);
}

function onPaste(event: ClipboardEvent): void {
  takeFiles(event, event.clipboardData?.files);
}

function takeFiles(event: Event, files: FileList | undefined): void {
  if (files === undefined || files.length === 0) return;
  event.preventDefault();
  file.files = files;
  useFile();
}

const inBytes = new Intl.NumberFormat('en', { style: 'unit', unit: 'byte', unitDisplay: 'long' });

function useFile(): void {
  const chosen = file.files?.[0];
  status.textContent = chosen === undefined ? '' : `${chosen.name} (${inBytes.format(chosen.size)})`;
  if (chosen !== undefined && title.value === '') title.value = chosen.name.slice(0, 200);
}

async function send(): Promise<void> {
  const chosen = file.files?.[0];
  failure.textContent = '';
  refuseSlug('');
  if (chosen === undefined && text.value === '') {
    failure.textContent = form.dataset['empty'] ?? '';
    return;
  }
  submit.disabled = true;
  status.textContent = '…';
  try {
    const sealed = encryption.isWanted ? await encrypted(chosen) : null;
    if (sealed === undefined) return;
    // A type of its own keeps a file that happens to be a form or JSON from being read as one.
    const response = await fetch(`${form.action}?${options()}`, {
      method: 'POST',
      body: sealed?.body ?? chosen ?? new Blob([text.value]),
      headers: { Accept: 'text/html', 'Content-Type': 'application/octet-stream' },
    });
    show(response.ok, await response.text(), sealed?.key);
  } catch {
    failure.textContent = form.dataset['unreachable'] ?? '';
  } finally {
    submit.disabled = false;
    status.textContent = '';
  }
}

/** undefined: the browser could not encrypt, and has said so. */
async function encrypted(chosen: File | undefined) {
  try {
    return await encryption.seal({
      text: text.value,
      file: chosen,
      title: title.value,
      syntax: element('syntax', HTMLSelectElement).value,
      burn: new FormData(form).get('burn') === 'true',
    });
  } catch {
    failure.textContent = form.dataset['unencrypted'] ?? '';
    return undefined;
  }
}

/** The title and the language of an encrypted paste are in its ciphertext. */
function options(): string {
  const query = new URLSearchParams();
  const inBody = encryption.isWanted ? ['text', 'title', 'syntax'] : ['text'];
  for (const [name, value] of new FormData(form)) {
    const isOption = !inBody.includes(name) && typeof value === 'string' && value !== '';
    if (isOption) query.set(name, value);
  }
  if (encryption.isWanted) query.set('encrypted', 'true');
  return query.toString();
}

/** Replaces the page by the answer, or shows why there is no paste and keeps the text. */
function show(created: boolean, markup: string, key: string | undefined): void {
  const answer = new DOMParser().parseFromString(markup, 'text/html');
  const main = answer.querySelector('main');
  if (main === null) return;
  if (!created) {
    const reason = main.querySelector('li[data-field="slug"] span')?.textContent ?? '';
    if (reason !== '' && slug !== null) {
      refuseSlug(reason);
      slug.focus();
      return;
    }
    const parts = main.querySelector('li') === null ? 'h1, p:not(:has(a))' : 'p:not(:has(a)), li';
    const texts = [...main.querySelectorAll(parts)].map((each) => each.textContent);
    failure.replaceChildren(
      ...texts.map((each) => Object.assign(document.createElement('p'), { textContent: each })),
    );
    return;
  }
  if (key !== undefined) addKey(answer, key);
  document.title = answer.title;
  element('main', HTMLElement).replaceWith(main);
  main.focus();
  for (const script of answer.querySelectorAll<HTMLScriptElement>('script[src]')) void import(script.src);
}

/** Shows beside the field why the slug was refused. @param reason empty: it was not */
function refuseSlug(reason: string): void {
  const shown = document.getElementById('slug-error');
  if (slug === null || shown === null) return;
  shown.textContent = reason === '' ? '' : (slug.dataset['refused'] ?? '').replace('{reason}', () => reason);
  if (reason === '') slug.removeAttribute('aria-invalid');
  else slug.setAttribute('aria-invalid', 'true');
}

/** Starts with the text of another paste, where the page has not. */
async function fillFrom(url: string | undefined): Promise<void> {
  if (url === undefined) return;
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`The server answered with ${response.status}.`);
    const fetched = await response.text();
    if (text.value === '') text.value = fetched; // the writer may have begun
  } catch {
    failure.textContent = form.dataset['unfilled'] ?? '';
  }
}
