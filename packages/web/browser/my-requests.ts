import { showRelativeTimes } from './browser-facts.ts';
import { element, optional } from './element.ts';
import { followRows } from './follow-rows.ts';
import { newKey } from './form/body.ts';
import { postJson, refusalOf } from './form/post-json.ts';
import { keepUnsaved } from './new-request.ts';

/** The keys are made here: the server gets neither. */
function startForm(form: HTMLFormElement): void {
  const message = element('message', HTMLInputElement);
  const messageError = element('message-error', HTMLElement);
  const failure = element('form-error', HTMLElement);
  const submit = element('submit', HTMLButtonElement);
  const { pages = '', unreachable = '', problems = '{}' } = form.dataset;
  /** With the same key, a request whose answer was lost is not made twice. */
  let key = newKey();
  form.hidden = false;
  form.addEventListener('input', () => {
    key = newKey();
    refuseMessage('');
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void make();
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return; // somebody has gone back to a form whose request is made
    key = newKey();
    submit.disabled = false;
  });

  async function make(): Promise<void> {
    if (submit.disabled) return;
    submit.disabled = true;
    failure.replaceChildren();
    try {
      const { newRequestKeys } = await import('@pasteflow/sealed/wrapped-keys');
      const { privatePart } = await newRequestKeys();
      const answer = await postJson(form.action, fieldsOf(form), { key });
      const { id, errors } = answer.document;
      if (answer.status === 201 && typeof id === 'string') {
        keepUnsaved(id);
        location.assign(`${pages}/${id}#${privatePart}`);
        return;
      }
      if (isOfMessage(errors)) refuseMessage(messageError.dataset['refused'] ?? '');
      else fail(refusalOf(answer, JSON.parse(problems) as Record<string, string>) ?? unreachable);
    } catch {
      fail(unreachable);
    }
    submit.disabled = false;
  }

  function refuseMessage(reason: string): void {
    messageError.textContent = reason;
    message.toggleAttribute('aria-invalid', false);
    if (reason === '') return;
    message.setAttribute('aria-invalid', 'true');
    message.focus();
  }

  function fail(reason: string): void {
    failure.replaceChildren(Object.assign(document.createElement('p'), { textContent: reason }));
  }
}

function fieldsOf(form: HTMLFormElement): object {
  const fields = new FormData(form);
  return {
    message: fields.get('message') || null,
    deposits: Number(fields.get('deposits')),
    expires_in: Number(fields.get('expires_in')),
  };
}

/** The API refuses a message with links. */
function isOfMessage(errors: unknown): boolean {
  return Array.isArray(errors) && errors.some(({ path }: { path?: unknown }) => path === 'message');
}

const form = optional('new-request', HTMLFormElement);
if (form !== null) {
  element('needs-script', HTMLElement).remove();
  if (isSecureContext) startForm(form);
  else element('needs-https', HTMLElement).hidden = false;
}
showRelativeTimes('.line time');
followRows();
