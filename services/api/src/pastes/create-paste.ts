import type { Request, Response } from 'express';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import {
  createPaste as insertPaste,
  type CreatedPaste,
  type Database,
  type NewPaste,
} from '@pasteflow/postgres';
import type { MessageDispatcher, OutgoingUpload } from '@pasteflow/sqs';
import { userIdOf } from '../identity/caller-of.ts';
import { hashOfSecret, newSecret } from '../identity/secret.ts';
import { jsonAnswer, textAnswer, type Answer } from '../http/response/answer.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import type { RequestEvents } from '../http/telemetry/request-events.ts';
import { RequestError } from '../http/errors/request-error.ts';
import type { Once } from '../idempotency/once.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { contentHashOf } from '@pasteflow/pastes';
import { createOperation, shellOperation } from './create-operations.ts';
import { viewOf, type CreatedPasteView, type PasteView } from './paste-view.ts';
import { receivePaste, type ReceivedPaste } from './receive-paste.ts';
import type { ShortCodes } from '@pasteflow/pastes';

export interface CreatePasteDependencies {
  readonly once: Once;
  readonly dispatcher: Pick<MessageDispatcher<OutgoingUpload>, 'dispatch'>;
  readonly newShortCode: ShortCodes;
  readonly maxPasteBytes: number;
  /** Whether a paste may be made without a token. */
  readonly anonymousPastes: 'allow' | 'deny';
  readonly publicUrl: () => string;
  readonly events: Pick<RequestEvents, 'pasteCreated'>;
}

interface Created {
  readonly view: PasteView;
  /** Null for a paste with an owner, who needs none. */
  readonly deleteToken: string | null;
}

/** POST /v1/pastes: 201 with the paste and, this once, the delete_token of an anonymous one. */
export function createPaste(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: createOperation(deps),
    handle: (req, res) =>
      create(deps, req, res, {
        json: true,
        answer: ({ view, deleteToken }) => {
          const created: CreatedPasteView = {
            ...view,
            ...(deleteToken !== null && { delete_token: deleteToken }),
          };
          return jsonAnswer(201, created, { Location: view.url });
        },
      }),
  };
}

/** POST / for the shell: 201 with the URL and a newline, and the delete token of an anonymous paste in a header. */
export function createPasteFromShell(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: shellOperation(deps),
    handle: (req, res) =>
      create(deps, req, res, {
        json: false,
        answer: ({ view, deleteToken }) =>
          textAnswer(201, `${view.url}\n`, {
            Location: view.url,
            ...(deleteToken !== null && { 'Delete-Token': deleteToken }),
          }),
      }),
  };
}

async function create(
  deps: CreatePasteDependencies,
  req: Request,
  res: Response,
  { json, answer }: { json: boolean; answer: (created: Created) => Answer },
): Promise<void> {
  const userId = userIdOf(req);
  const received = await receivePaste(req, res, {
    maxBytes: deps.maxPasteBytes,
    json,
    anonymous: userId === null,
  });
  const deleteToken = userId === null ? newSecret() : null;
  const paste = {
    ...received,
    userId,
    contentHash: contentHashOf(received.content),
    deleteTokenHash: deleteToken === null ? null : hashOfSecret(deleteToken),
  };
  const { content, ...options } = received;
  contextOf(req).sizeBytes = content.length;
  await deps.once(req, res, {
    said: JSON.stringify([options, paste.contentHash]),
    create: (db) => insertWithFreeCode(db, deps.newShortCode, paste),
    answer: ({ shortCode, created }) =>
      answer({ view: viewOfNew({ ...paste, shortCode }, created, deps.publicUrl()), deleteToken }),
    committed: ({ shortCode, created }) => {
      contextOf(req).shortCode = shortCode;
      deps.events.pasteCreated(json ? 'json' : 'shell', content.length);
      deps.dispatcher.dispatch({
        executionId: created.executionId,
        shortCode,
        content: content.length <= INLINE_CONTENT_BYTES ? content : null,
        context: messageContextOf(req),
      });
    },
  });
}

/**
 * With a billion pastes a code is taken once in 8.4e8 times: five in a row mean that something else is wrong.
 */
const MAX_CODES = 5;

async function insertWithFreeCode(
  db: Database,
  newShortCode: ShortCodes,
  paste: Omit<NewPaste, 'shortCode'>,
): Promise<{ shortCode: string; created: CreatedPaste }> {
  for (let tried = 0; tried < MAX_CODES; tried += 1) {
    const shortCode = newShortCode();
    const created = await insertPaste(db, { ...paste, shortCode });
    if (created !== null) return { shortCode, created };
  }
  throw new RequestError('short_code_taken', 'No free short code was found; try again shortly.');
}

function viewOfNew(paste: ReceivedPaste & NewPaste, created: CreatedPaste, publicUrl: string): PasteView {
  const row = {
    short_code: paste.shortCode,
    status: 'IN_PROGRESS',
    deletion_status: 'NOT_EXPIRED',
    visibility: paste.visibility,
    title: paste.title,
    syntax: paste.syntax,
    content_hash: paste.contentHash,
    size_bytes: paste.content.length,
    created_at: created.createdAt,
    expires_at: created.expiresAt,
    processed_at: null,
    failure_reason: null,
  } as const;
  return viewOf(row, publicUrl);
}
