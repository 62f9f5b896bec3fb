import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import { revealPaste as claimForReader, type Actor, type Database, type PasteRow } from '@pasteflow/postgres';
import { RequestError, validationFailed } from '../http/errors/request-error.ts';
import type { RequestEvents } from '../http/telemetry/request-events.ts';
import { idempotencyKeyOf } from '../idempotency/idempotency-key.ts';
import type { Sessions } from '../identity/sessions.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { assertNotGone, findNamedPaste, pasteGone, pasteNotFound } from './find-named-paste.ts';
import { findStored, sendContent, type ReadContentDependencies } from './read-content.ts';
import { revealOperation } from './reveal-operation.ts';
import type { RequestedDownload } from './send-download.ts';

export interface RevealDependencies extends ReadContentDependencies {
  readonly db: Database;
  readonly actor: Actor;
  readonly sessions: Pick<Sessions, 'refuseForeign'>;
  readonly events: ReadContentDependencies['events'] & Pick<RequestEvents, 'pasteRevealed'>;
}

/**
 * POST /:short_code and POST /v1/pastes/:short_code/reveal: the content of a paste that is deleted when it is read, once (ADR 47).
 * Everything that can fail happens before the paste is claimed: the content is in memory, or open at S3.
 */
export function revealPaste(deps: RevealDependencies, operationId: string): Endpoint {
  return {
    operation: { ...revealOperation, operationId },
    handle: async (req, res) => {
      assertPlainRequest(deps, req);
      const paste = await findStored(deps, req, res, assertBurns);
      if (paste === null) return;
      const head = (): ServerResponse =>
        res.writeHead(200, {
          'Content-Type': 'text/plain; charset=utf-8',
          'Content-Length': String(paste.size_bytes),
          'Cache-Control': `${String(res.getHeader('Cache-Control'))}, no-transform`,
        });
      await sendOnce(deps, paste, { req, res, head });
    },
  };
}

/**
 * A page of another site can make a browser send a POST, and an answer that is kept for an Idempotency-Key would reveal the paste twice.
 * A body is refused because somebody may mean to create a paste.
 * @throws RequestError cross_site_request or validation_failed
 */
export function assertPlainRequest({ sessions }: Pick<RevealDependencies, 'sessions'>, req: Request): void {
  sessions.refuseForeign(req);
  if (idempotencyKeyOf(req) !== null) {
    const message = 'must not be sent: the answer would be kept, and the paste could be read a second time';
    throw validationFailed([{ path: 'Idempotency-Key', message }]);
  }
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers;
  if (Number(length) !== 0 || encoding !== undefined) {
    const message = 'must be empty: this request reveals a paste. POST / creates one';
    throw validationFailed([{ path: '', message }]);
  }
}

/** @throws RequestError nothing_to_reveal */
export function assertBurns({ burn }: Pick<PasteRow, 'burn'>): void {
  if (burn) return;
  throw new RequestError('nothing_to_reveal', 'This paste stays when it is read. Read it with GET.');
}

/**
 * Sends the content of a PROCESSED paste to this reader, if nobody has read it.
 * @throws RequestError paste_gone or paste_taken_down for everybody else; and as sendContent: then the paste can still be read
 */
export async function sendOnce(
  deps: RevealDependencies,
  paste: PasteRow,
  { req, res, head, render }: Pick<RequestedDownload, 'req' | 'res' | 'head' | 'render'>,
): Promise<void> {
  const requested = { paste, range: undefined, accepts: null };
  const permit = async (): Promise<void> => {
    if (!(await claimForReader(deps.db, paste.id, deps.actor))) throw await goneFor(deps, req);
    deps.events.pasteRevealed(req);
  };
  await sendContent({ ...deps, cache: keepsNothing }, paste, {
    req,
    res,
    requested,
    head,
    permit,
    ...(render !== undefined && { render }),
  });
}

/** The content must be in no memory after its one read. */
const keepsNothing: RevealDependencies['cache'] = { get: () => undefined, add: () => {} };

/** Why somebody else's claim came first. */
async function goneFor(deps: RevealDependencies, req: Request): Promise<Error> {
  const paste = await findNamedPaste(deps, req);
  if (paste === null) return pasteNotFound();
  assertNotGone(paste);
  return pasteGone();
}
