import type { Request, Response } from 'express';
import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import {
  createPaste as insertPaste,
  type CreatedPaste,
  type Database,
  type NewPaste,
} from '@pasteflow/postgres';
import type { UploadDispatcher } from '@pasteflow/sqs';
import { contextOf, messageContextOf } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { contentHashOf } from './content-hash.ts';
import { createOperation, shellOperation } from './create-operations.ts';
import { hashOfToken, newDeleteToken } from './delete-token.ts';
import { viewOf, type CreatedPasteView, type PasteView } from './paste-view.ts';
import { receivePaste, type ReceivedPaste } from './receive-paste.ts';
import type { ShortCodes } from './short-codes.ts';

export interface CreatePasteDependencies {
  readonly db: Database;
  readonly dispatcher: Pick<UploadDispatcher, 'dispatch'>;
  readonly newShortCode: ShortCodes;
  readonly maxPasteBytes: number;
  readonly publicUrl: () => string;
}

interface Created {
  readonly view: PasteView;
  readonly deleteToken: string;
}

/** POST /v1/pastes: 201 with the paste and, this once, its delete_token. */
export function createPaste(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: createOperation(deps),
    handle: async (req, res) => {
      const { view, deleteToken } = await create(deps, req, res, { json: true });
      const created: CreatedPasteView = { ...view, delete_token: deleteToken };
      res.status(201).location(view.url).json(created);
    },
  };
}

/** POST / for the shell: 201 with the URL and a newline, and the delete token in a header. */
export function createPasteFromShell(deps: CreatePasteDependencies): Endpoint {
  return {
    operation: shellOperation(deps),
    handle: async (req, res) => {
      const { view, deleteToken } = await create(deps, req, res, { json: false });
      res
        .status(201)
        .location(view.url)
        .set('Delete-Token', deleteToken)
        .type('text/plain')
        .send(`${view.url}\n`);
    },
  };
}

async function create(
  deps: CreatePasteDependencies,
  req: Request,
  res: Response,
  { json }: { json: boolean },
): Promise<Created> {
  const received = await receivePaste(req, res, { maxBytes: deps.maxPasteBytes, json });
  const deleteToken = newDeleteToken();
  const paste = {
    ...received,
    contentHash: contentHashOf(received.content),
    deleteTokenHash: hashOfToken(deleteToken),
  };
  const { shortCode, created } = await insertWithFreeCode(deps, paste);

  const context = contextOf(req);
  context.shortCode = shortCode;
  context.sizeBytes = received.content.length;
  deps.dispatcher.dispatch({
    executionId: created.executionId,
    shortCode,
    content: received.content.length <= INLINE_CONTENT_BYTES ? received.content : null,
    context: messageContextOf(req),
  });
  return { view: viewOfNew({ ...paste, shortCode }, created, deps.publicUrl()), deleteToken };
}

/**
 * With a billion pastes a code is taken once in 8.4e8 times: five in a row mean that something else is wrong.
 */
const MAX_CODES = 5;

async function insertWithFreeCode(
  { db, newShortCode }: CreatePasteDependencies,
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
