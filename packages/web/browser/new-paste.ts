import { element } from './element.ts';
import { keepCreated, keptCreated, readPage, showCreated } from './form/created.ts';
import { forgetDraft, keepDraft, keptFields } from './form/draft.ts';
import { FileField } from './form/file-field.ts';
import { indent } from './form/indent.ts';
import { EncryptionOption } from './sealed/encryption-option.ts';

/** The form sends itself without this module. With it, the text goes byte for byte, and errors keep the text. */
const form = element('new-paste', HTMLFormElement);
const text = element('text', HTMLTextAreaElement);
const title = element('title', HTMLInputElement);
const status = element('form-status', HTMLElement);
const failure = element('form-error', HTMLElement);
const submit = element('create', HTMLButtonElement);
/** Only for those who are signed in. */
const slug = document.getElementById('slug');
const encryption = new EncryptionOption();
const file = new FileField(text, {
  onChange: onEdit,
  refuse: (reason) => {
    failure.textContent = reason;
  },
  isBusy: () => submit.disabled || !form.isConnected,
});
/** Who is signed in; empty: nobody. */
const { viewer = '' } = form.dataset;

/** How often somebody has changed something. */
let edits = 0;
let tabLeaves = false;

/** A creation whose answer was lost is repeated as it was, with the same key, so that it makes no second paste. */
interface Attempt {
  readonly edits: number;
  readonly key: string;
  readonly query: string;
  readonly sealed: Sealed | null;
}
type Sealed = Awaited<ReturnType<EncryptionOption['seal']>>;
let attempt: Attempt | null = null;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
form.addEventListener('input', onEdit);
text.addEventListener('keydown', onKey);
addEventListener('pagehide', isDraftKept);
addEventListener('beforeunload', (event) => {
  if (!isDraftKept()) event.preventDefault();
});
start();

function start(): void {
  const created = keptCreated(viewer);
  if (created !== null) {
    showCreated(created);
    return;
  }
  if (form.dataset['refused'] === undefined) restoreDraft(); // a form that was refused shows what was entered
  void fillFrom(form.dataset['from']);
}

function onEdit(): void {
  edits += 1;
  if (encryption.isWanted) isDraftKept(); // forgets the draft
  warnOfBoth();
}

/** Tab indents. After Esc, Tab leaves the field, as everywhere else (WCAG 2.2, 2.1.2). */
function onKey(event: KeyboardEvent): void {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === 'Escape') {
    tabLeaves = true;
  } else if (event.key === 'Tab' && !tabLeaves && text.value !== '') {
    event.preventDefault();
    indent(text, event.shiftKey ? 'out' : 'in');
  } else if (event.key !== 'Shift') {
    tabLeaves = false;
  }
}

/** A paste is a text or a file. The writer decides which. */
function warnOfBoth(): boolean {
  const { both = '' } = form.dataset;
  const hasBoth = text.value !== '' && file.chosen !== undefined;
  if (hasBoth) failure.textContent = both;
  else if (failure.textContent === both) failure.textContent = '';
  return hasBoth;
}

async function send(): Promise<void> {
  if (submit.disabled) return; // one creation at a time, however often Ctrl+Enter is pressed
  const { chosen } = file;
  failure.textContent = '';
  refuseSlug('');
  if (chosen === undefined && text.value === '') failure.textContent = form.dataset['empty'] ?? '';
  if (failure.textContent !== '' || warnOfBoth()) return;
  showBusy(true);
  try {
    const current = await currentAttempt(chosen);
    if (current === undefined) return;
    const { key, query, sealed } = current;
    // A type of its own keeps a file that happens to be a form or JSON from being read as one.
    const response = await fetch(`${form.action}?${query}`, {
      method: 'POST',
      body: sealed?.body ?? chosen ?? new Blob([text.value]),
      headers: { Accept: 'text/html', 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key },
    });
    const markup = await response.text();
    if (response.ok) {
      keepCreated({ markup, key: sealed?.key ?? null, writer: viewer });
      forgetDraft();
    } else showRefusal(markup);
  } catch {
    failure.textContent = form.dataset['unreachable'] ?? '';
  } finally {
    showBusy(false);
  }
}

function showBusy(isBusy: boolean): void {
  submit.disabled = isBusy;
  text.readOnly = isBusy; // what is written now would be lost
  if (isBusy) status.textContent = '…';
  else file.show();
}

/** undefined: the browser could not encrypt, and has said so. */
async function currentAttempt(chosen: File | undefined): Promise<Attempt | undefined> {
  if (attempt?.edits === edits) return attempt;
  const [begun, query] = [edits, options()];
  const sealed = encryption.isWanted ? await encrypted(chosen) : null;
  if (sealed === undefined) return undefined;
  const key = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
  attempt = { edits: begun, key, query, sealed };
  return attempt;
}

async function encrypted(chosen: File | undefined): Promise<Sealed | undefined> {
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
  const left = encryption.isWanted ? ['text', 'form_key', 'title', 'syntax'] : ['text', 'form_key'];
  for (const [name, value] of new FormData(form)) {
    const isOption = !left.includes(name) && typeof value === 'string' && value !== '';
    if (isOption) query.set(name, value);
  }
  if (encryption.isWanted) query.set('encrypted', 'true');
  return query.toString();
}

/** Shows why there is no paste, and keeps the text. */
function showRefusal(markup: string): void {
  const { main } = readPage(markup);
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
}

/** Shows beside the field why the slug was refused. @param reason empty: it was not */
function refuseSlug(reason: string): void {
  const shown = document.getElementById('slug-error');
  if (slug === null || shown === null) return;
  shown.textContent = reason === '' ? '' : (slug.dataset['refused'] ?? '').replace('{reason}', () => reason);
  if (reason === '') slug.removeAttribute('aria-invalid');
  else slug.setAttribute('aria-invalid', 'true');
}

/**
 * Keeps what was entered, for a reload. What is to be encrypted is never kept, because a browser may write it to its disk.
 * @returns whether nothing would be lost
 */
function isDraftKept(): boolean {
  if (edits === 0 || !form.isConnected) return true;
  const isEmpty = text.value === '';
  if (!isEmpty && !encryption.isWanted) return keepDraft({ writer: viewer, fields: fieldsOfDraft() });
  forgetDraft();
  return isEmpty;
}

/** Without the title of a file, because a browser gives no page its file again. */
function fieldsOfDraft(): Record<string, string> {
  const fields = Object.fromEntries([...new FormData(form)].filter(([, value]) => typeof value === 'string'));
  if (file.gaveTitle) delete fields['title'];
  return fields as Record<string, string>;
}

function restoreDraft(): void {
  const fields = keptFields(viewer);
  if (fields === null) return;
  for (const control of form.elements) {
    if (control instanceof HTMLInputElement && control.type === 'checkbox') {
      if (control.name !== '') control.checked = control.name in fields;
    } else if (
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement ||
      (control instanceof HTMLInputElement && control.type === 'text')
    )
      control.value = fields[control.name] ?? control.value;
  }
  edits += 1;
}

/** Starts with the text of another paste, where the page has not. */
async function fillFrom(url: string | undefined): Promise<void> {
  if (url === undefined || text.value !== '') return;
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`The server answered with ${response.status}.`);
    // Response.text() would drop a byte order mark.
    const fetched = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
    if (text.value === '') text.value = fetched; // the writer may have begun
  } catch {
    failure.textContent = form.dataset['unfilled'] ?? '';
  }
}
