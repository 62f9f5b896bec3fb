import type { Request, Response } from 'express';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import type { BodyBudget } from '../budget/body-budget.ts';
import { contentHashOf } from '@pasteflow/service-kit';
import type { MessageDispatcher, OutgoingUpload } from '@pasteflow/sqs';
import type { Form } from '../http/body/multipart.ts';
import { limitKeyOf } from '../http/request/caller.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { sendAnswer, type Answer } from '../http/response/answer.ts';
import type { RequestEvents } from '../http/telemetry/request-events.ts';
import { sendReplay, type Idempotency } from '../idempotency/idempotency.ts';
import { callerOf, userIdOf } from '../identity/caller-of.ts';
import { hashOfSecret, newSecret } from '../identity/secret.ts';
import type { Limits } from '../limits/limits.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { createOperation, shellOperation } from './create-operations.ts';
import type { Pages } from '../html/page.ts';
import { createdAnswer, type CreatedForm } from './created-answer.ts';
import { insertWithFreeCode, type InsertDependencies } from './insert-with-free-code.ts';
import { viewOfNew, type PasteView } from './paste-view.ts';
import { receivePaste, type ReceivedPaste } from './receive-paste.ts';
import { keepForm } from './refused-form.ts';

export interface CreatePasteDependencies extends InsertDependencies {
  readonly idempotency: Pick<Idempotency, 'claim'>;
  readonly dispatcher: Pick<MessageDispatcher<OutgoingUpload>, 'dispatch'>;
  readonly maxPasteBytes: number;
  readonly bodies: BodyBudget;
  /** Whether a paste can be created without a token. */
  readonly anonymousPastes: 'allow' | 'deny';
  readonly publicUrl: () => string;
  readonly pages: Pages;
  readonly events: Pick<RequestEvents, 'pasteCreated'>;
  readonly limits: Pick<Limits, 'refuseGuesser' | 'countBytes' | 'refuseWithoutBytes'>;
}

/** POST /v1/pastes: 201 with the paste and, only in this answer, the delete_token of an anonymous paste. */
export function createPaste(deps: CreatePasteDependencies): Endpoint {
  return { operation: createOperation(deps), handle: (req, res) => create(deps, 'json', req, res) };
}

/**
 * POST / for the shell: 201 with the URL and a newline; the delete token of an anonymous paste is in a
 * header. A browser gets a page with both.
 */
export function createPasteFromShell(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: shellOperation(deps),
    handle: (req, res) => create(deps, 'shell', req, res),
    page: (req, res) => create(deps, 'page', req, res),
  };
}

async function create(
  deps: CreatePasteDependencies,
  form: CreatedForm,
  req: Request,
  res: Response,
): Promise<void> {
  deps.limits.refuseWithoutBytes(res, callerOf(req));
  const received = await receivePaste(req, res, {
    maxBytes: deps.maxPasteBytes,
    budget: deps.bodies,
    json: form === 'json',
    anonymous: userIdOf(req) === null,
    ...(form === 'page' && { onForm: (sent: Form) => keepForm(deps, req, sent) }),
  });
  await storePaste(deps, req, res, received, {
    form,
    answerTo: (paste, deleteToken) => createdAnswer(form, paste, deleteToken, () => deps.pages.site(req)),
  });
}

/** How a new paste is answered. */
export interface PasteForm {
  /** For metrics. */
  readonly form: CreatedForm | 'private-bin';
  /** @param deleteToken null for a paste with an owner */
  readonly answerTo: (paste: PasteView, deleteToken: string | null) => Answer;
}

/**
 * Claim the Idempotency-Key, count the bytes, insert, dispatch, answer. The commit is the promise behind the answer; the message follows it.
 */
export async function storePaste(
  deps: CreatePasteDependencies,
  req: Request,
  res: Response,
  received: ReceivedPaste,
  { form, answerTo }: PasteForm,
): Promise<void> {
  const userId = userIdOf(req);
  const context = contextOf(req);
  const { content, formKey = null, ...options } = received;
  context.sizeBytes = content.length;
  // The answer tells whether the creator can read the parent, so that a parent may be a guess at a short code.
  if (options.parent !== undefined) deps.limits.refuseGuesser(res, limitKeyOf(callerOf(req)));

  const deleteToken = userId === null ? newSecret() : null;
  const paste = {
    ...options,
    content,
    userId,
    contentHash: contentHashOf(content),
    deleteTokenHash: deleteToken === null ? null : hashOfSecret(deleteToken),
  };
  const claim = await deps.idempotency.claim(req, JSON.stringify([options, paste.contentHash]), formKey);
  if (claim.kind === 'answered') {
    sendReplay(req, res, claim.answer);
    return;
  }
  const { shortCode, executionId, answer } = await claim.releaseOnFailure((key) =>
    deps.limits.countBytes(res, callerOf(req), content.length, () =>
      insertWithFreeCode(deps, {
        paste,
        key,
        answerTo: (created) => {
          const view = viewOfNew({ ...paste, ...created }, deps.publicUrl());
          return answerTo(view, deleteToken);
        },
      }),
    ),
  );

  context.shortCode = shortCode;
  deps.events.pasteCreated(form, content.length);
  deps.dispatcher.dispatch({
    executionId,
    shortCode,
    content: content.length <= INLINE_CONTENT_BYTES ? content : null,
    context: messageContextOf(context),
  });
  sendAnswer(res, answer);
}
