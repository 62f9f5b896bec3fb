import { fillToken } from './browser-facts.ts';
import { element, optional } from './element.ts';
import { keepCreated, keptCreated, readPage, showCreated } from './form/created.ts';
import { conflictOf, openSaved, tokenOfEdited } from './form/edited.ts';
import { enter, forgetDraft, keepDraft, keptFields, type Fields } from './form/draft.ts';
import { FileField } from './form/file-field.ts';
import { indent, otherUserOf, reasonsOf, SyntaxField } from './form/fields.ts';
import { readText } from './read-text.ts';
import { EncryptionOption } from './sealed/encryption-option.ts';

/**
 * The form sends itself without this module. With it, the text goes byte for byte, and errors keep the text.
 */
const form = element('new-paste', HTMLFormElement);
const text = element('text', HTMLTextAreaElement);
const title = element('title', HTMLInputElement);
/** With this key a creation whose answer was lost makes no second paste. Another text gets another key. */
const formKey = element('form-key', HTMLInputElement);
/** Whom the form is for. */
const formUser = form.elements.namedItem('form_user') as HTMLInputElement;
const status = element('form-status', HTMLElement);
const failure = element('form-error', HTMLElement);
const signInAgain = element('sign-in-again', HTMLElement);
const submit = element('create', HTMLButtonElement);
/** Only for those who are signed in. */
const slug = document.getElementById('slug');
const encryption = new EncryptionOption();
const file = new FileField(text, {
  onChange: onEdit,
  canEach: () => !isEdit && !encryption.isWanted && text.value === '',
  onEach: (files) => void sendEach(files),
  isBusy: () => submit.disabled || !form.isConnected,
});
const syntax = new SyntaxField(() => ({
  names: [title.value, file.chosen?.name ?? ''],
  text: file.chosen === undefined ? text.value : '',
}));
/** Burning, encryption and the slug. It is open where one of them is used. The form of a newer version has none. */
const more = optional('more', HTMLDetailsElement);
const isEdit = more === null;
/** Who is signed in; empty: nobody. */
let { viewer = '' } = form.dataset;

/** Somebody has changed or sent the form. */
let isTouched = false;
let tabLeaves = false;
const NO_OPTIONS = ['text', 'form_key', 'form_user', 'delete_token', 'syntax'];

type Sealed = Awaited<ReturnType<EncryptionOption['seal']>>;
/** Each encryption gives other bytes: a creation is repeated with the same ones. */
let sealedFor: { readonly key: string; readonly sealed: Sealed } | null = null;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
form.addEventListener('input', onEdit);
text.addEventListener('keydown', onKey);
more?.addEventListener('invalid', openMore, { capture: true }); // a browser can't show what is folded
addEventListener('pagehide', isDraftKept);
document.addEventListener('visibilitychange', isDraftKept); // a tab that ends in the background says nothing else
addEventListener('beforeunload', (event) => {
  if (!isDraftKept()) event.preventDefault();
});
start();

function start(): void {
  const created = keptCreated(viewer);
  if (created !== null) {
    keepCreated(created);
    return;
  }
  const fields = keptFields(viewer);
  const isRefused = form.dataset['refused'] !== undefined; // the page shows what was entered
  if (form.dataset['shared'] !== undefined) {
    history.replaceState(null, '', location.pathname); // what was shared is a draft now, and no part of the address
    onEdit();
  } else if (fields !== null && !isRefused && isLoadedAgain()) restore(fields);
  void fillFrom(form.dataset['from']);
  fillToken();
}

/** A link to the form gives an empty one. The way back to a draft is the way back in the history. */
function isLoadedAgain(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type !== 'navigate';
}

function openMore(): void {
  if (more !== null) more.open = true;
}

function onEdit(): void {
  isTouched = true;
  syntax.changed();
  formKey.value = newKey();
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
  signInAgain.hidden = true;
  refuseSlug('');
  if (chosen === undefined && text.value === '') failure.textContent = form.dataset['empty'] ?? '';
  if (failure.textContent !== '' || warnOfBoth()) return;
  showBusy(true);
  isTouched = true; // a form that starts with a text is sent as it is
  try {
    const { value: key } = formKey;
    const query = options();
    const sealed = encryption.isWanted ? await encrypted(key, chosen) : null;
    if (sealed === undefined) return;
    const response = await post(sealed?.body ?? chosen ?? new Blob([text.value]), query, key);
    const markup = await response.text();
    if (response.status === 201) {
      isTouched = false;
      if (isEdit && openSaved(markup)) return;
      if (sealed === null) keepCreated({ markup, writer: viewer });
      else showCreated(markup, sealed.key);
      forgetDraft();
    } else if (response.ok) throw new Error('Something else than the service has answered.');
    else showRefusal(markup, response.status);
  } catch {
    failure.textContent = form.dataset['unreachable'] ?? '';
  } finally {
    showBusy(false);
  }
}

/** A type of its own keeps a file that happens to be a form or JSON from being read as one. */
function post(body: Blob, query: string, key: string): Promise<Response> {
  return fetch(`${form.action}?${query}`, {
    method: 'POST',
    body,
    headers: {
      Accept: 'text/html',
      'Content-Type': 'application/octet-stream',
      'Idempotency-Key': key,
      'Form-User': formUser.value,
      ...(tokenOfEdited() !== '' && { 'Delete-Token': tokenOfEdited() }),
    },
    redirect: 'error',
  });
}

async function sendEach(files: readonly File[]): Promise<void> {
  const { createEach } = await import('./form/create-each.ts');
  showBusy(true);
  const send = async (each: File) => {
    const query = new URLSearchParams(options());
    for (const name of ['slug', 'parent', 'syntax']) query.delete(name);
    query.set('title', each.name.slice(0, title.maxLength));
    const response = await post(each, query.toString(), newKey());
    return { created: response.status === 201, markup: await response.text() };
  };
  const isCreated = await createEach(files, {
    send,
    writer: viewer,
    unreachable: form.dataset['unreachable'] ?? '',
  });
  showBusy(false);
  if (isCreated) forgetDraft();
}

function newKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
}

function showBusy(isBusy: boolean): void {
  submit.disabled = isBusy;
  text.readOnly = isBusy; // what is written now would be lost
  if (isBusy) status.textContent = '…';
  else file.show();
}

/** undefined: the browser could not encrypt, and has said so. */
async function encrypted(key: string, chosen: File | undefined): Promise<Sealed | undefined> {
  if (sealedFor?.key === key) return sealedFor.sealed;
  try {
    const sealed = await encryption.seal({
      text: text.value,
      file: chosen,
      title: title.value,
      syntax: syntax.value,
      burn: new FormData(form).get('burn') === 'true',
    });
    sealedFor = { key, sealed };
    return sealed;
  } catch (error) {
    failure.textContent = `${form.dataset['unencrypted'] ?? ''} (${String(error)})`;
    return undefined;
  }
}

/** The title and the language of an encrypted paste are in its ciphertext. */
function options(): string {
  const query = new URLSearchParams();
  const left = [...NO_OPTIONS, ...(encryption.isWanted ? ['title'] : [])];
  for (const [name, value] of new FormData(form)) {
    const isSaid = value !== '' || (isEdit && name === 'title'); // what is left out is that of the version before
    if (!left.includes(name) && typeof value === 'string' && isSaid) query.set(name, value);
  }
  if (encryption.isWanted) query.set('encrypted', 'true');
  else if (syntax.value !== '' || isEdit) query.set('syntax', syntax.value);
  return query.toString();
}

/** Shows why there is no paste, and keeps the text. */
function showRefusal(markup: string, responseStatus: number): void {
  const { answer, main } = readPage(markup);
  const otherUser = otherUserOf(answer, formUser, (name) => (viewer = name));
  const conflict = conflictOf(answer);
  const reason = main.querySelector('li[data-field="slug"] span')?.textContent ?? '';
  signInAgain.hidden = responseStatus !== 401 || optional('delete_token', HTMLInputElement) !== null;
  if (otherUser !== null) failure.replaceChildren(...otherUser);
  else if (conflict !== null) {
    failure.replaceChildren(...conflict);
    formKey.value = newKey();
  } else if (reason !== '' && slug !== null) {
    refuseSlug(reason);
    slug.focus();
  } else failure.replaceChildren(...reasonsOf(main, signInAgain.hidden));
}

/** Shows beside the field why the slug was refused. @param reason empty: it was not */
function refuseSlug(reason: string): void {
  const shown = document.getElementById('slug-error');
  if (slug === null || shown === null) return;
  if (reason !== '') openMore();
  shown.textContent = reason;
  if (reason === '') slug.removeAttribute('aria-invalid');
  else slug.setAttribute('aria-invalid', 'true');
}

/**
 * Keeps what was entered, for when the page is loaded again. What is to be encrypted is never kept, because a
 * browser may write it to its disk, and no browser gives a page its file again.
 * @returns whether nothing would be lost
 */
function isDraftKept(): boolean {
  if (!isTouched || !form.isConnected) return true;
  const hasFile = file.chosen !== undefined;
  if (!encryption.isWanted) return keepDraft({ writer: viewer, fields: fieldsOfDraft() }) && !hasFile;
  forgetDraft();
  return text.value === '' && !hasFile;
}

function fieldsOfDraft(): Fields {
  const fields = Object.fromEntries([...new FormData(form)].filter(([, value]) => typeof value === 'string'));
  if (file.gaveTitle) fields['title'] = ''; // it goes with the file
  for (const name of ['delete_token', 'form_user']) delete fields[name]; // the page that is loaded again has its own
  return fields as Record<string, string>;
}

function restore(fields: Fields): void {
  enter(form, fields);
  if ([...(more?.querySelectorAll<HTMLInputElement>('[name]') ?? [])].some(({ name }) => fields[name]))
    openMore();
  isTouched = true;
  syntax.changed();
}

/** Starts with the text of another paste, where the page has not. */
async function fillFrom(url: string | undefined): Promise<void> {
  if (url === undefined || text.value !== '') return;
  try {
    const fetched = await readText(url);
    if (text.value === '') text.value = fetched; // the writer may have begun
    syntax.changed();
  } catch {
    failure.textContent = form.dataset['unfilled'] ?? '';
  }
}
