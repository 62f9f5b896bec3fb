import type { IncomingMessage } from 'node:http';
import { takedownClasses, type TakedownClass } from '@pasteflow/domain';
import { readUrlForm, readWhole } from '@pasteflow/http-kit';
import { confirmationPage, type OperationsSite } from '@pasteflow/web';
import { actionOptions, type Action, type ActionOption, type Meant } from '../actions/action.ts';
import { findAction } from '../actions/actions.ts';
import type { Operations } from '../operations.ts';
import type { Visitor } from './access.ts';
import type { ActionRunner } from './action-runner.ts';
import { notFound, pageResponse, redirectTo, Refusal, type PageResponse } from './response.ts';

/** GET /confirm/NAME: says how many are meant, and asks for the reason. @throws Refusal */
export async function confirm(
  operations: Operations,
  site: OperationsSite,
  name: string,
  subject: string,
): Promise<PageResponse> {
  if (!site.mayAct) throw mayOnlyRead();
  const { action, meant } = await check(operations, name, subject);
  return confirmation(site, { subject, action, meant, hasChanged: false });
}

/**
 * POST /act/NAME: does what the operator confirmed, unless more is meant now than was confirmed. The answer
 * leads to a page that can be loaded again.
 * @throws Refusal
 */
export async function act(
  { operations, runner }: { readonly operations: Operations; readonly runner: ActionRunner },
  site: OperationsSite,
  visitor: Visitor,
  name: string,
  req: IncomingMessage,
): Promise<PageResponse> {
  if (!visitor.mayAct) throw mayOnlyRead();
  const { subject, count, reason, class: why, also } = await readForm(req);
  const { action, meant } = await check(operations, name, subject);
  if (meant.count > count) return confirmation(site, { subject, action, meant, hasChanged: true });
  if (action.hasClass === true && why === null)
    throw wrongForm(422, 'No class for the readers is chosen. Go back and choose one.');
  const by = { actor: visitor.actor, reason, class: why ?? 'other', also };
  return redirectTo(`${site.base}/actions/${await runner.start(action, subject, by)}`);
}

/** @throws Refusal 404 for an unknown action or subject */
async function check(
  operations: Operations,
  name: string,
  subject: string,
): Promise<{ readonly action: Action; readonly meant: Meant }> {
  const action = findAction(name);
  if (action === undefined) throw notFound('There is no such action.');
  const meant = await action.check(operations, subject);
  if (meant === null) throw notFound('What the action is meant for does not exist.');
  return { action, meant };
}

interface Confirming {
  readonly subject: string;
  readonly action: Action;
  readonly meant: Meant;
  /** More is meant now than the operator has confirmed. */
  readonly hasChanged: boolean;
}

function confirmation(
  site: OperationsSite,
  { subject, action, meant, hasChanged }: Confirming,
): PageResponse {
  const page = confirmationPage(site, {
    action: action.name,
    title: action.title,
    subject: subject === '' ? null : subject,
    ...meant,
    classes: action.hasClass === true ? takedownClasses : null,
    class: meant.class ?? null,
    options: action.options ?? [],
    isReasonForOwner: action.isReasonForOwner ?? false,
    hasChanged,
  });
  return pageResponse(page, hasChanged ? 409 : 200);
}

/** The form of a confirming step. */
interface ConfirmedForm {
  /** Empty: the action has none. */
  readonly subject: string;
  /** How many the operator has confirmed. */
  readonly count: number;
  readonly reason: string;
  /** null: the form has none. */
  readonly class: TakedownClass | null;
  readonly also: readonly ActionOption[];
}

const MAX_REASON_CHARACTERS = 500;

/** @throws Refusal 413, 415 or 422 */
async function readForm(req: IncomingMessage): Promise<ConfirmedForm> {
  const form = await readUrlForm(req, async (maxBytes) => {
    const body = await readWhole(req, maxBytes);
    if (body === null) throw wrongForm(413, `Send at most ${maxBytes} bytes.`);
    return body;
  });
  if (form === null) throw wrongForm(415, 'Send the form of the confirming step.');
  const reason = (form.get('reason') ?? '').trim();
  if (reason === '' || reason.length > MAX_REASON_CHARACTERS || reason.includes('\0'))
    throw wrongForm(
      422,
      `Give a reason of at most ${MAX_REASON_CHARACTERS} characters. Go back and enter it.`,
    );
  const count = form.get('count') ?? '';
  if (!/^\d{1,9}$/.test(count))
    throw wrongForm(422, 'The form has no count. Go back to the confirming step.');
  const chosen = form.get('class');
  const found = takedownClasses.find((each) => each === chosen) ?? null;
  const also = actionOptions.filter((each) => form.getAll('also').includes(each));
  return { subject: form.get('subject') ?? '', count: Number(count), reason, class: found, also };
}

function wrongForm(status: number, detail: string): Refusal {
  return new Refusal(status, { title: 'The form is wrong', detail });
}

function mayOnlyRead(): Refusal {
  return new Refusal(403, {
    title: 'Read only',
    detail:
      'You may read and change nothing. Sign in with OPS_TOKEN, or in the group of OPS_OIDC_ACT, to act.',
  });
}
