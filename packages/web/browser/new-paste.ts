import { MAX_FILES } from '@pasteflow/domain';
import { fillToken } from './browser-facts.ts';
import { element, optional } from './element.ts';
import { keepCreated, keptCreated, readPage, showCreated } from './form/created.ts';
import { conflictOf, openSaved, tokenOfEdited } from './form/edited.ts';
import { Doors } from './form/doors.ts';
import { enter, forgetDraft, isLoadedAgain, keepDraft, keptFields, type Fields } from './form/draft.ts';
import type { DraftFile, FormFile } from './form/form-file.ts';
import { FormFiles, originFiles } from './form/form-files.ts';
import { otherUserOf, reasonsOf, refuseSlug, SyntaxField } from './form/fields.ts';
import { bodyOfFile, bodyOfFiles, newKey, postBody, type Body } from './form/body.ts';
import { listenToKeys } from './form/text-keys.ts';
import { readBlob, readText } from './read-text.ts';
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
const encryption = new EncryptionOption();
const isBusy = (): boolean => submit.disabled || !form.isConnected;
const files = new FormFiles({ onChange: onEdit, isBusy });
const syntax = new SyntaxField(element('syntax', HTMLSelectElement), () => ({
  names: [titleOf()],
  text: text.value,
}));
const doors = new Doors(encryption, { isBusy, onChange: onEdit });
/** Makes a paste of each file. */
const each = element('each', HTMLButtonElement);
/** Burning, encryption and the slug. It is open where one of them is used. The form of a newer version has none. */
const more = optional('more', HTMLDetailsElement);
const isEdit = more === null;
const version = { isEdit, maxTitle: title.maxLength };
/** Who is signed in; empty: nobody. */
let { viewer = '' } = form.dataset;

/** Somebody has changed or sent the form. */
let isTouched = false;
/** The draft that is kept has files which the form does not have yet. */
let isLoading = false;
const NO_OPTIONS = ['text', 'form_key', 'form_user', 'delete_token', 'title', 'syntax'];

type Sealed = Awaited<ReturnType<EncryptionOption['seal']>>;
/** Each encryption gives other bytes: a creation is repeated with the same ones. */
let sealedFor: { readonly key: string; readonly sealed: Sealed } | null = null;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
form.addEventListener('input', onEdit);
listenToKeys(text);
each.addEventListener('click', () => void sendEach());
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
  submit.disabled = false; // that of a secret waits for this module
  const fields = keptFields(viewer);
  const { shared, refused } = form.dataset; // the page shows what was entered
  if (shared !== undefined) {
    history.replaceState(null, '', location.pathname); // what was shared is a draft now, and no part of the address
    onEdit();
  }
  const draft = shared === undefined && refused === undefined && isLoadedAgain() ? fields : null;
  if (draft !== null) restore(draft);
  void fill(draft);
  fillToken();
}

/** A secret has none, and that of the text is out of sight. */
function titleOf(): string {
  return doors.isSecret ? '' : title.value;
}

function openMore(): void {
  if (more !== null) more.open = true;
}

function onEdit(): void {
  isTouched = true;
  syntax.changed();
  formKey.value = newKey();
  showEach();
  if (encryption.isWanted) isDraftKept(); // forgets the draft
}

function showEach(): void {
  each.hidden = isEdit || encryption.isWanted || files.count < 2;
}

async function send(): Promise<void> {
  if (submit.disabled) return; // one creation at a time, however often Ctrl+Enter is pressed
  failure.textContent = '';
  signInAgain.hidden = true;
  refuseSlug('');
  if (files.count === 0 && text.value === '') {
    failure.textContent = form.dataset['empty'] ?? '';
    return;
  }
  showBusy(true);
  isTouched = true; // a form that starts with a text is sent as it is
  try {
    const { value: key } = formKey;
    const sent = await files.sent();
    if (isTooMuch(sent) || files.refuseNames(sent)) return;
    const sealed = encryption.isWanted ? await encrypted(key, sent) : null;
    if (sealed === undefined) return;
    const response = await post(bodyOf(sealed, sent), key);
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

/** What is too large, or has too many files, is refused before it is sent. */
function isTooMuch(sent: readonly FormFile[]): boolean {
  const { maxBytes = '', tooLarge = '', tooMany = '' } = form.dataset;
  const size = sent.reduce((total, { content }) => total + content.size, 0);
  if (size > Number(maxBytes)) failure.textContent = tooLarge;
  if (sent.length > MAX_FILES) failure.textContent = tooMany;
  return failure.textContent !== '';
}

function bodyOf(sealed: Sealed | null, sent: readonly FormFile[]): Body {
  const query = options();
  if (sealed !== null) {
    query.set('encrypted', 'true');
    return { content: sealed.body, query };
  }
  const [only = { name: '', syntax: syntax.value, content: new Blob([text.value]) }] = sent;
  if (titleOf() !== '' || isEdit) query.set('title', titleOf()); // what is left out is that of the version before
  return sent.length < 2 ? bodyOfFile(only, query, version) : bodyOfFiles(sent, query);
}

function post(body: Body, key: string): Promise<Response> {
  return postBody(form.action, body, {
    'Idempotency-Key': key,
    'Form-User': formUser.value,
    ...(tokenOfEdited() !== '' && { 'Delete-Token': tokenOfEdited() }),
  });
}

async function sendEach(): Promise<void> {
  const { createEach } = await import('./form/create-each.ts');
  showBusy(true);
  const send = async (file: FormFile) => {
    const query = options();
    for (const name of ['slug', 'parent']) query.delete(name);
    const response = await post(bodyOfFile(file, query, version), newKey());
    return { created: response.status === 201, markup: await response.text() };
  };
  const isCreated = await createEach(await files.sent(), {
    send,
    writer: viewer,
    unreachable: form.dataset['unreachable'] ?? '',
  });
  showBusy(false);
  if (isCreated) forgetDraft();
}

function showBusy(isBusy: boolean): void {
  for (const button of [submit, each]) button.disabled = isBusy;
  text.readOnly = isBusy; // what is written now would be lost
  files.readOnly = isBusy;
  status.textContent = isBusy ? '…' : '';
}

/** undefined: the browser could not encrypt, and has said so. */
async function encrypted(key: string, sent: readonly FormFile[]): Promise<Sealed | undefined> {
  if (sealedFor?.key === key) return sealedFor.sealed;
  try {
    const sealed = await encryption.seal({
      text: text.value,
      files: sent,
      title: titleOf(),
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

/** But the title and the language. */
function options(): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form))
    if (!NO_OPTIONS.includes(name) && typeof value === 'string' && value !== '') query.set(name, value);
  return query;
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
  } else if (reason === '' || !refuseSlug(reason))
    failure.replaceChildren(...reasonsOf(main, signInAgain.hidden));
}

/**
 * Keeps what was entered, for when the page is loaded again. What is to be encrypted is never kept, because a
 * browser may write it to its disk, and no browser gives a page its file again.
 * @returns whether nothing would be lost
 */
function isDraftKept(): boolean {
  if (!isTouched || isLoading || !form.isConnected) return true;
  if (!encryption.isWanted) return keepDraft({ writer: viewer, fields: fieldsOfDraft() }) && files.areKept;
  forgetDraft();
  return !hasContent();
}

function fieldsOfDraft(): Fields {
  const fields = Object.fromEntries([...new FormData(form)].filter(([, value]) => typeof value === 'string'));
  fields['files'] = JSON.stringify(files.draft);
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

/** Starts with the text or the files of another paste, where the page has not, and with the files of a draft. */
async function fill(draft: Fields | null): Promise<void> {
  const { from: url, files: list } = form.dataset;
  const given =
    draft?.['files'] === undefined ? originFiles(list) : (JSON.parse(draft['files']) as DraftFile[]);
  try {
    if (url !== undefined && given.some(({ range }) => range !== null)) {
      isLoading = true;
      showBusy(true); // what is not loaded yet would be missing in the paste
      files.restore(given, await readBlob(url));
      showBusy(false);
      isLoading = false;
    } else files.restore(given, null);
    showEach();
    if (url !== undefined && list === undefined && !hasContent()) {
      const fetched = await readText(url);
      if (!hasContent()) text.value = fetched; // the writer may have begun
      syntax.changed();
    }
  } catch {
    status.textContent = '';
    failure.textContent = form.dataset['unfilled'] ?? '';
  }
}

function hasContent(): boolean {
  return text.value !== '' || files.areUsed;
}
