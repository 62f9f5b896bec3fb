import { MAX_FILES } from '@pasteflow/domain';
import { showRelativeTimes } from './browser-facts.ts';
import { startCopyButtons } from './copy.ts';
import { element, optional } from './element.ts';
import { newKey } from './form/body.ts';
import type { FormFile } from './form/form-file.ts';
import { FormFiles } from './form/form-files.ts';
import { postJson, refusalOf, type JsonAnswer } from './form/post-json.ts';
import { listenToKeys } from './form/text-keys.ts';

/** What the page says by itself: `browserWords` in src/pages/request.ts. */
interface DepositWords {
  readonly insecure: string;
  readonly brokenLink: string;
  readonly outdated: string;
  readonly unloaded: string;
  readonly empty: string;
  readonly tooLarge: string;
  readonly tooMany: string;
  readonly encrypting: string;
  readonly sending: string;
  readonly failed: string;
  readonly unreachable: string;
  readonly problems: Readonly<Record<string, string>>;
}

/** The page of who is asked for a secret. What is typed is kept nowhere, because a browser may write it to its disk. */
const form = element('deposit', HTMLFormElement);
const words = JSON.parse(form.dataset['words'] ?? '{}') as DepositWords;
const { request: requestId = '', maxBytes = '' } = form.dataset;
const text = element('text', HTMLTextAreaElement);
const failure = element('form-error', HTMLElement);
const status = element('form-status', HTMLElement);
const progress = element('progress', HTMLProgressElement);
const submit = element('send', HTMLButtonElement);
const files = new FormFiles({
  onChange: onEdit,
  isBusy: () => Boolean(form.hidden) || submit.disabled || !form.isConnected,
});

/**
 * What is sent, also when the answer is lost: with the same key and the same bytes, no second secret is stored. Another
 * text has another key.
 */
let deposit: { readonly key: string; readonly body: object } | null = null;

form.addEventListener('input', onEdit);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
addEventListener('hashchange', () => {
  if (form.hidden) location.reload();
  else onEdit();
});
addEventListener('beforeunload', (event) => {
  if (form.isConnected && hasContent()) event.preventDefault();
});
listenToKeys(text);
showRelativeTimes('.line time');
void start();

/** Shows the form, or why nothing can be sent. */
async function start(): Promise<void> {
  element('needs-script', HTMLElement).remove();
  const obstacle = await findObstacle();
  if (obstacle === null) form.hidden = false;
  else showNotice(element('refusal', HTMLElement), words[obstacle]);
}

/** Loads what encrypts now: a release that comes while somebody types has other files. */
async function findObstacle() {
  if (!isSecureContext) return 'insecure'; // browsers then have no cipher
  try {
    const { obstacleTo } = await import('./sealed/seal-deposit.ts');
    return await obstacleTo({ requestId, fragment: location.hash });
  } catch {
    return 'unloaded';
  }
}

function onEdit(): void {
  deposit = null;
}

function hasContent(): boolean {
  return text.value !== '' || files.areUsed;
}

async function send(): Promise<void> {
  if (submit.disabled) return;
  failure.replaceChildren();
  if (files.count === 0 && text.value === '') {
    fail(words.empty);
    return;
  }
  showBusy(words.encrypting);
  try {
    const sent = await files.sent();
    if (isTooMuch(sent) || files.refuseNames(sent)) return;
    deposit ??= await seal(sent);
    if (deposit === null) return;
    showBusy(words.sending);
    progress.hidden = false;
    const answer = await postJson(form.action, deposit.body, {
      key: deposit.key,
      onProgress: (part) => (progress.value = part),
    });
    showAnswer(answer);
  } catch {
    fail(words.unreachable);
  } finally {
    showBusy('');
    progress.hidden = true;
    progress.removeAttribute('value');
  }
}

/** @returns null: it could not be encrypted, and the page says why */
async function seal(sent: readonly FormFile[]): Promise<typeof deposit> {
  try {
    const { sealDeposit, obstacleTo } = await import('./sealed/seal-deposit.ts');
    const recipient = { requestId, fragment: location.hash };
    const obstacle = await obstacleTo(recipient); // somebody may have changed the address
    if (obstacle !== null) {
      fail(words[obstacle]);
      return null;
    }
    const body = await sealDeposit({ text: text.value, files: sent }, recipient);
    if (body.content.length > Number(maxBytes)) {
      fail(words.tooLarge);
      return null;
    }
    return { key: newKey(), body };
  } catch (error) {
    fail(`${words.failed} (${String(error)})`);
    return null;
  }
}

/** What is too large, or has too many files, is refused before it is encrypted. */
function isTooMuch(sent: readonly FormFile[]): boolean {
  const size = sent.reduce((total, { content }) => total + content.size, 0);
  if (size > Number(maxBytes)) fail(words.tooLarge);
  else if (sent.length > MAX_FILES) fail(words.tooMany);
  else return false;
  return true;
}

function showAnswer(answer: JsonAnswer): void {
  const { receipt } = answer.document;
  if (answer.status !== 201 || typeof receipt !== 'string') {
    fail(refusalOf(answer, words.problems) ?? words.unreachable);
    return;
  }
  form.remove();
  element('asked', HTMLElement).hidden = true;
  optional('languages', HTMLFormElement)?.remove(); // its reload would lose the receipt
  element('receipt', HTMLInputElement).value = receipt;
  const again = optional('again', HTMLAnchorElement);
  if (again !== null) {
    again.href += location.hash;
    again.addEventListener('click', (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) location.reload(); // the address is the same one
    });
  }
  startCopyButtons();
  const shown = element('deposited', HTMLElement);
  shown.hidden = false;
  shown.querySelector('h2')?.focus();
}

/** @param busy what the page does; empty: nothing */
function showBusy(busy: string): void {
  submit.disabled = busy !== '';
  text.readOnly = busy !== ''; // what is written now would be lost
  files.readOnly = busy !== '';
  status.textContent = busy;
}

function fail(reason: string): void {
  failure.replaceChildren(paragraph(reason));
}

function showNotice(box: HTMLElement, reason: string): void {
  box.replaceChildren(Object.assign(paragraph(reason), { className: 'notice bad' }));
}

function paragraph(words: string): HTMLElement {
  return Object.assign(document.createElement('p'), { textContent: words });
}
