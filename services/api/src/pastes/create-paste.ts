import type { Request, Response } from 'express';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import type { CreatedPaste } from '@pasteflow/postgres';
import { contentHashOf } from '@pasteflow/service-kit';
import type { MessageDispatcher, OutgoingUpload } from '@pasteflow/sqs';
import { createdPage } from '@pasteflow/web';
import type { BodyBudget } from '../http/limits/body-budget.ts';
import type { Form } from '../http/body/multipart.ts';
import { limitKeyOf } from '../http/callers/caller.ts';
import { FORM_USER_HEADER, requireFormUser } from '../http/request/form-user.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { jsonAnswer, sendAnswer, textAnswer, type Answer } from '../http/answers/answer.ts';
import type { RequestEvents } from '../http/server/request-events.ts';
import type { Idempotency } from '../http/idempotency/idempotency.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import { hashOfSecret, newSecret } from '../http/callers/secret.ts';
import type { Limits } from '../http/limits/limits.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { pageAnswer, type Pages } from '../http/pages/page.ts';
import { createOperation, shellOperation } from './create-operations.ts';
import type { PasteInserts } from '../storage/paste-inserts.ts';
import { viewOfNew, type CreatedPasteView, type PasteView } from './paste-view.ts';
import { receivePaste, type ReceivedPaste } from './receive-paste.ts';
import { keepForm } from './refused-form.ts';

export interface CreatePasteDependencies {
  readonly idempotency: Idempotency;
  readonly inserts: PasteInserts;
  readonly dispatcher: MessageDispatcher<OutgoingUpload>;
  readonly maxPasteBytes: number;
  readonly bodies: BodyBudget;
  /** Whether a paste can be created without a token. */
  readonly anonymousPastes: 'allow' | 'deny';
  readonly publicUrl: () => string;
  readonly pages: Pages;
  readonly events: RequestEvents;
  readonly limits: Limits;
}

/** How a new paste is received, and how it is answered. */
export interface PasteForm {
  /** For metrics. */
  readonly name: 'json' | 'shell' | 'page' | 'private-bin';
  readonly receive: () => Promise<ReceivedPaste>;
  /** @param deleteToken null for a paste with an owner */
  readonly answerTo: (paste: PasteView, deleteToken: string | null) => Answer;
}

/** POST /v1/pastes: 201 with the paste and, only in this answer, the delete_token of an anonymous paste. */
export function createPaste(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: createOperation(deps),
    handle: (req, res) =>
      create(deps, req, res, {
        name: 'json',
        receive: () => receive(deps, req, res, { json: true }),
        answerTo: (paste, deleteToken) => {
          const created: CreatedPasteView = {
            ...paste,
            ...(deleteToken !== null && { delete_token: deleteToken }),
          };
          return jsonAnswer(201, created, { Location: paste.url });
        },
      }),
  };
}

/**
 * POST / for the shell: 201 with the URL and a newline; the delete token of an anonymous paste is in a
 * header. A browser gets a page with both.
 */
export function createPasteFromShell(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: shellOperation(deps),
    handle: (req, res) =>
      create(deps, req, res, {
        name: 'shell',
        receive: () => receive(deps, req, res, { json: false }),
        answerTo: ({ url }, deleteToken) =>
          textAnswer(201, `${url}\n`, {
            Location: url,
            ...(deleteToken !== null && { 'Delete-Token': deleteToken }),
          }),
      }),
    page: (req, res) =>
      create(deps, req, res, {
        name: 'page',
        receive: () => {
          keepForm(deps, req, null);
          requireFormUser(req, req.get(FORM_USER_HEADER));
          return receive(deps, req, res, { json: false, onForm: (sent) => keepForm(deps, req, sent) });
        },
        answerTo: (paste, deleteToken) =>
          pageAnswer(201, createdPage(deps.pages.site(req), { ...paste, deleteToken }), {
            Location: paste.url,
          }),
      }),
  };
}

async function receive(
  deps: CreatePasteDependencies,
  req: Request,
  res: Response,
  how: { readonly json: boolean; readonly onForm?: (form: Form) => void },
): Promise<ReceivedPaste> {
  const caller = callerOf(req);
  deps.limits.refuseUsedUpBytes(res, caller);
  const isAnonymous = caller.kind === 'anonymous';
  return await receivePaste(req, res, {
    maxBytes: deps.maxPasteBytes,
    budget: deps.bodies,
    anonymous: isAnonymous,
    ...how,
  });
}

/**
 * Receive, claim the Idempotency-Key, insert, dispatch, answer. The commit is the promise behind the answer;
 * the message follows it.
 */
export async function create(
  deps: CreatePasteDependencies,
  req: Request,
  res: Response,
  { name, receive, answerTo }: PasteForm,
): Promise<void> {
  const { content, formKey = null, ...options } = await receive();
  const [context, caller] = [contextOf(req), callerOf(req)];
  context.sizeBytes = content.length;
  // The answer tells whether the creator can read the parent, so that a parent may be a guess at a short
  // code.
  if (options.parent !== undefined) deps.limits.refuseUsedUp(res, 'misses', limitKeyOf(caller));

  const userId = caller.kind === 'user' ? caller.userId : null;
  const deleteToken = userId === null ? newSecret() : null;
  const paste = {
    ...options,
    content,
    userId,
    contentHash: contentHashOf(content),
    deleteTokenHash: deleteToken === null ? null : hashOfSecret(deleteToken),
  };
  const claim = await deps.idempotency.claim(req, res, JSON.stringify([options, paste.contentHash]), formKey);
  if (claim === null) return;

  const answerOf = (created: CreatedPaste): Answer =>
    answerTo(viewOfNew({ ...paste, ...created }, deps.publicUrl()), deleteToken);
  const { created, answer } = await claim.releaseOnFailure((key) =>
    deps.limits.countBytes(res, caller, content.length, () => deps.inserts.insert(paste, key, answerOf)),
  );

  const { shortCode, executionId } = created;
  context.shortCode = shortCode;
  deps.events.pasteCreated(name, content.length);
  deps.dispatcher.dispatch({
    executionId,
    shortCode,
    content: content.length <= INLINE_CONTENT_BYTES ? content : null,
    context: messageContextOf(context),
  });
  sendAnswer(res, answer);
}
