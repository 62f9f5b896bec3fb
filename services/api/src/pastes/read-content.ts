import { type ContentEncoding, DependencyUnavailableError, type PasteFile } from '@pasteflow/domain';
import { z } from 'zod';
import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { PasteRow } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { addVary } from '../http/answers/response-headers.ts';
import { acceptedEncoding } from '../http/request/accept.ts';
import { limitKeyOf } from '../http/callers/caller.ts';
import { isKnownToClient, matchesPrecondition, rangeOf } from '../http/request/conditional.ts';
import { contextOf, idsOf } from '../http/request/request-context.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import { readAgain, waitForUpload } from '../live/read-waiting.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../http/openapi/endpoint.ts';
import { optionalHeader } from '../http/openapi/formats.ts';
import { example } from './example.ts';
import { byteAnswers, byteErrors, conditions } from './byte-answers.ts';
import { assertNotGone, findNamedPaste, namedPaste, pasteNotFound } from './find-named-paste.ts';
import { type RequestedDownload, sendDownload } from './send-download.ts';
import type { OpenContent } from '../storage/stored-content.ts';

/**
 * A strong entity tag: equal tags mean equal bytes, so that the compressed form of content has another
 * one (RFC 9110, 8.8.3.3).
 * @param contentHash `sha256:` and 64 hex digits
 */
export function etagOf(contentHash: string, encoding: ContentEncoding | null = null): string {
  const hash = contentHash.slice('sha256:'.length);
  return encoding === null ? `"${hash}"` : `"${hash}-${encoding}"`;
}

/** Of a file, which is never sent compressed. */
export function etagOfFile(contentHash: string, { offset, size }: PasteFile): string {
  return `"${contentHash.slice('sha256:'.length)}-${offset}-${size}"`;
}

/** The operation of readContent, at both of its paths. */
const contentOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  isShared: true,
  summary: 'Reads the content of a paste, byte for byte.',
  description:
    'A read waits about a second for an upload in progress. A paste whose upload failed is answered with 404. HEAD ignores Range, and tells no Content-Length of a compressed content. A caller who downloads too much at the same time gets 429, and ' +
    'the connection of a client that reads too slowly is cut.',
  params: {
    path: namedPaste,
    header: z.object({
      ...conditions(etagOf(example.contentHash)),
      'Accept-Encoding': optionalHeader(
        'Content that is stored compressed is sent as it is stored to clients that name its encoding, `gzip`. A part is never compressed.',
        'gzip',
      ),
    }),
  },
  answers: byteAnswers(
    'content',
    { ETag: headers.etag, 'Accept-Ranges': headers.acceptRanges, Vary: headers.varyEncoding },
    { 'Content-Encoding': headers.gzipEncoding },
  ),
  errors: [...byteErrors],
};

/** An upload that took longer than the wait before this answer. */
const RETRY_AFTER_SECONDS = 1;

/**
 * GET /:short_code and /v1/pastes/:short_code/content: the exact bytes. While the upload is in progress,
 * the answer waits for it for up to a second. FAILED and unknown pastes get the same 404 after the same
 * single statement.
 */
export function readContent(api: ApiContext, operationId: string): Endpoint {
  return {
    operation: { ...contentOperation, operationId },
    handle: (req, res) => read(api, req, res),
  };
}

async function read(api: ApiContext, req: Request, res: Response): Promise<void> {
  const paste = await findStored(api, req, res, (found) => assertStays(api, found));
  if (paste !== null) await serve(api, { paste, file: null }, req, res);
}

type ReadablePaste = PasteRow & { readonly status: 'IN_PROGRESS' | 'PROCESSED' };

/**
 * The paste whose content is to be sent. Waits for an upload in progress, and otherwise answers that it is
 * in progress.
 * @returns null: the request is answered, or the client has disconnected
 * @throws RequestError
 */
export async function findStored(
  api: ApiContext,
  req: Request,
  res: Response,
  check: (paste: PasteRow) => void,
  find?: () => Promise<PasteRow | null>,
): Promise<PasteRow | null> {
  const paste = await findAfterUpload(api, req, res, check, find);
  if (paste?.status !== 'IN_PROGRESS') return paste;
  if (contextOf(req).wantsPage === true)
    throw new RequestError('paste_in_progress', 'This paste is not stored yet. Reload this page.');
  contextOf(req).errorCode = 'paste_in_progress';
  // Empty, because `curl --retry` would print an error body in front of the content.
  res.writeHead(503, { 'Retry-After': String(RETRY_AFTER_SECONDS), 'Content-Length': '0' }).end();
  return null;
}

/**
 * A paste that may be read, after a wait for its upload if that is in progress.
 * @param check throws for a paste that may not be read in this way
 * @param find finds the paste, each time that its row is needed; default: the paste that the URL names
 * @returns null: the client has disconnected
 * @throws RequestError
 */
export async function findAfterUpload(
  api: ApiContext,
  req: Request,
  res: Response,
  check: (paste: PasteRow) => void = () => {},
  find: () => Promise<PasteRow | null> = () => findNamedPaste(api, req),
): Promise<ReadablePaste | null> {
  const paste = readable(await find(), check);
  if (paste.status !== 'IN_PROGRESS' || !(await waitForUpload(api.live, paste, req, res, api.contentWaitMs)))
    return paste;
  return await readAgain(api.live, res, async () => readable(await find(), check));
}

/** FAILED is checked before expiry, because a failed paste never had content. @throws RequestError */
function readable(paste: PasteRow | null, check: (paste: PasteRow) => void): ReadablePaste {
  if (paste === null || paste.status === 'FAILED') throw pasteNotFound();
  assertNotGone(paste);
  check(paste);
  return { ...paste, status: paste.status };
}

/** @throws RequestError reveal_required for a paste that is deleted when it is read */
export function assertStays({ publicUrl }: ApiContext, { burn, short_code: shortCode }: PasteRow): void {
  if (!burn) return;
  throw new RequestError(
    'reveal_required',
    `This paste is deleted when it is read. Read it once with: curl -X POST ${publicUrl()}/${shortCode} -H "Idempotency-Key: \${KEY:=$(uuidgen)}"`,
  );
}

/** What is served: a paste, or one of its files, which is a range of the content with a tag of its own. */
interface Served {
  readonly paste: PasteRow;
  readonly file: PasteFile | null;
}

/** Sends the bytes of a paste that may be read, or answers that the client has them. @throws RequestError */
export async function serve(
  api: ApiContext,
  { paste, file }: Served,
  req: Request,
  res: Response,
): Promise<void> {
  const { offset, size } = file ?? { offset: 0, size: paste.size_bytes };
  const tag = (encoding: ContentEncoding | null): string =>
    file === null ? etagOf(paste.content_hash, encoding) : etagOfFile(paste.content_hash, file);
  const plain = tag(null);
  const wantsPart = req.method === 'GET' && req.get('Range') !== undefined;
  const accepted = wantsPart || file !== null ? null : acceptedEncoding(req);
  const encoding = paste.stored_encoding === accepted ? accepted : null;
  const tags = encoding === null ? [plain] : [tag(encoding), plain];
  const varies = (): void => void (file === null && addVary(res, 'Accept-Encoding'));
  // Not transformed, because the bytes are the paste.
  res.setHeader('ETag', tag(encoding));
  res.setHeader('Accept-Ranges', 'bytes');
  res.setHeader('Cache-Control', `${cachingOf(paste, res)}, no-transform`);

  if (!tags.some((each) => matchesPrecondition(req.get('If-Match'), each))) {
    throw new RequestError(
      'precondition_failed',
      'The ETag of the content does not match If-Match. Read the current ETag and try again.',
    );
  }
  const known = tags.find((each) => isKnownToClient(req.get('If-None-Match'), each));
  if (known !== undefined) {
    res.setHeader('ETag', known);
    varies();
    res.status(304).end();
    return;
  }
  const range = wantsPart
    ? rangeOf({ range: req.get('Range'), ifRange: req.get('If-Range') }, { size, etag: plain })
    : 'whole';
  if (range === 'unsatisfiable') {
    throw new RequestError(
      'range_not_satisfiable',
      `The content has ${size} bytes. Request ${size === 0 ? 'it without a range' : `a range within 0 to ${size - 1}`}.`,
      { headers: { 'Content-Range': `bytes */${size}` } },
    );
  }
  const head = (sent: Pick<OpenContent, 'encoding'> & { readonly length?: number }): ServerResponse => {
    varies();
    return res.writeHead(range === 'whole' ? 200 : 206, {
      'Content-Type': 'text/plain; charset=utf-8',
      ETag: tag(sent.encoding),
      ...(sent.encoding !== null && { 'Content-Encoding': sent.encoding }),
      ...(sent.length !== undefined && { 'Content-Length': String(sent.length) }),
      ...(range !== 'whole' && { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` }),
    });
  };
  if (req.method === 'HEAD' || size === 0) {
    // Only S3 knows the size of a compressed object.
    head(encoding === null ? { encoding, length: size } : { encoding }).end();
    return;
  }
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range;
  const isAll = file === null && range === 'whole';
  // What precedes the part is inflated, too: the last byte of 10 MB costs as much as all of them.
  if (!isAll && paste.stored_encoding !== null)
    await api.limits.countInflated(res, limitKeyOf(callerOf(req)), offset + start);
  const part = isAll ? undefined : { start: offset + start, end: offset + end };
  const requested = { paste, range: part, accepts: accepted };
  await sendContent(api, paste, { req, res, requested, head });
}

/**
 * Revalidated each time, because the paste may be deleted. What not everybody with the link may read is left in no
 * cache, nor is what a browser gets that is signed in: the header that admission has set for it stays.
 */
export function cachingOf({ visibility }: Pick<PasteRow, 'visibility'>, res: Response): string {
  const admitted = String(res.getHeader('Cache-Control'));
  if (admitted.startsWith('private')) return admitted;
  return visibility === 'unlisted' ? 'private, no-cache' : 'no-store';
}

/**
 * Sends the content of a PROCESSED paste, or what is rendered from the content.
 * @throws RequestError when the paste was deleted meanwhile; and as sendDownload
 */
export async function sendContent(
  api: ApiContext,
  paste: PasteRow,
  download: RequestedDownload,
): Promise<void> {
  // Every way to content leads here, also one that does not know of such pastes.
  assertStays(api, paste);
  if (await sendDownload(api, download)) return;
  throw await objectMissing(api, download.req, paste);
}

/**
 * The error for a PROCESSED paste without an object. Either the paste was deleted between the statement and
 * the request to S3, or an invariant is broken: that is logged, and the client may try again.
 */
export async function objectMissing(
  api: ApiContext,
  req: Request,
  { short_code: shortCode }: PasteRow,
): Promise<Error> {
  assertNotGone(await findNamedPaste(api, req));
  api.logger.error('PROCESSED paste has no object in S3', {
    ...idsOf(contextOf(req)),
    short_code: shortCode,
  });
  return new DependencyUnavailableError('s3');
}
