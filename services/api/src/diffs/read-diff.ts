import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { PasteRow } from '@pasteflow/postgres';
import { z } from 'zod';
import { DependencyUnavailableError, type PasteFile } from '@pasteflow/domain';
import { canRead } from '@pasteflow/service-kit';
import type { ApiContext } from '../context.ts';
import { MAX_WHOLE_BYTES } from '../http/limits/download-budget.ts';
import { diffFiles, filesOfBoth, type Both, diffTexts, MAX_DIFF_LINES } from './diff-files.ts';
import { patchOfFiles, unifiedPatch } from './hunks.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { isKnownToClient } from '../http/request/conditional.ts';
import { readQuery } from '../http/request/query.ts';
import { contextOf, idsOf } from '../http/request/request-context.ts';
import { sendWhole } from '../http/answers/send-paced.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../http/openapi/endpoint.ts';
import { optionalHeader } from '../http/openapi/formats.ts';
import { example } from '../pastes/example.ts';
import {
  assertNotGone,
  assertNotHeld,
  findErrors,
  findEvenHeld,
  namesPaste,
} from '../pastes/find-named-paste.ts';
import { assertStays, cachingOf, findStored } from '../pastes/read-content.ts';
import { readContent } from '../storage/stored-content.ts';

const diffQuery = z.object({
  from: z
    .string()
    .optional()
    .meta({
      param: {
        description:
          'The short code of another paste that you can read, or `~` and its slug: what has changed since that one. Default: the parent.',
        example: example.shortCode,
      },
    }),
});

const diffOperation: Operation = {
  operationId: 'readDiff',
  isShared: true,
  tag: 'pastes',
  access: 'anyone',
  summary:
    'Reads what has changed since the paste that this one was made from, or since any other one; in a browser, as a page.',
  description:
    'The answer is a patch in the unified format of diff, empty for equal content. When one of the pastes has several files, it is one for each file that was added, removed, changed or renamed, as git writes it. Content of more than 256 KiB or 5,000 lines, contents whose lines were moved too often, and encrypted ' +
    'ones are answered with `diff_unavailable`.',
  params: {
    path: namesPaste(example.childCode),
    query: diffQuery,
    header: z.object({
      'If-None-Match': optionalHeader(
        'ETags of the diffs that the client has: 304 when one of them matches.',
        '"0"',
      ),
    }),
  },
  answers: {
    200: {
      description: 'The patch.',
      headers: z.object({ ETag: headers.etagOfDiff, 'Content-Length': headers.contentLength }),
      content: { 'text/plain': {} }, // any bytes, which no schema can express
    },
    304: {
      description: 'The client has the current diff: an empty body.',
      headers: z.object({ ETag: headers.etagOfDiff }),
    },
    503: {
      description:
        'The upload of one of the pastes is in progress: an empty body. Retry after the given time.',
      headers: z.object({ 'Retry-After': headers.retryAfter }),
    },
  },
  errors: [...findErrors, 'reveal_required', 'no_diff', 'diff_unavailable', 'rate_limited', 'overloaded'],
};

/** GET /:short_code/diff: the changes since the parent as a patch. */
async function readDiff(api: ApiContext, req: Request, res: Response): Promise<void> {
  const stays = (found: PasteRow): void => assertStays(api, found);
  const paste = await findStored(api, req, res, stays);
  if (paste === null) return;
  const older = await findStored(api, req, res, stays, () => findOlder(api, req, paste));
  if (older === null) return;
  const diffed = { paste, older };
  assertComparable(diffed);
  const files = filesOfBoth(older, paste);
  const etag = etagOfDiff(diffed, files === null ? 'patch' : files);
  const caching = { ETag: etag, 'Cache-Control': `${cachingOfBoth(diffed, res)}, no-transform` };
  if (isKnownToClient(req.get('If-None-Match'), etag)) {
    res.status(304).set(caching).end();
    return;
  }
  await withContents(api, { req, res, ...diffed }, async (contents) => {
    const names = { from: older.short_code, to: paste.short_code };
    const patch = files === null ? patchOf(contents, names) : patchByFile(contents, files);
    res.set({
      ...caching,
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': String(patch.length),
    });
    await sendDiff(api, req, res, patch);
  });
}

function patchOf(contents: Both<Buffer>, names: Both<string>): Buffer {
  const diff = diffTexts(contents, 'exact');
  if (diff === null) throw tooComplex();
  return unifiedPatch(names, diff.hunks);
}

function patchByFile(contents: Both<Buffer>, files: Both<readonly PasteFile[]>): Buffer {
  const diffs = diffFiles(contents, files, 'exact');
  if (diffs === null) throw tooComplex();
  return patchOfFiles(diffs);
}

export function tooComplex(): Error {
  return diffUnavailable(
    `These texts have more than ${MAX_DIFF_LINES} lines, or too many of their lines were moved. Read both pastes and compare them with diff.`,
  );
}

/** A diff has the content of both pastes. */
export function cachingOfBoth({ paste, older }: DiffedPastes, res: Response): string {
  return cachingOf(older.visibility === 'unlisted' ? paste : older, res);
}

export async function sendDiff(api: ApiContext, req: Request, res: Response, bytes: Buffer): Promise<void> {
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  const outcome = await sendWhole(bytes, res, api.sending);
  if (outcome === 'too_slow') api.events.downloadTooSlow(req);
}

/** @param page the page for a browser */
export function diffAtShortUrl(api: ApiContext, page: NonNullable<Endpoint['page']>): Endpoint {
  return { operation: diffOperation, handle: (req, res) => readDiff(api, req, res), page };
}

/** Raise it when a diff of the same contents is written differently. */
const FORMAT = 1;

/**
 * The entity tag of a diff: of both contents, and of everything else that its form shows. The contents of a
 * paste never change.
 * @param shown what the form shows, as JSON can write it
 */
export function etagOfDiff({ paste, older }: DiffedPastes, shown: unknown): string {
  const parts = [FORMAT, older.short_code, older.content_hash, paste.short_code, paste.content_hash, shown];
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}"`;
}

/** A paste and the one with which it is compared, both readable by the caller. */
interface DiffedPastes {
  readonly paste: PasteRow;
  readonly older: PasteRow;
}

/** The size up to which content is read as a whole. */
const MAX_DIFF_BYTES = MAX_WHOLE_BYTES;

/**
 * The paste that the query names, or the parent, as the caller may read it now.
 * @throws RequestError no_diff, paste_not_found, paste_gone, paste_taken_down or paste_held
 */
export async function findOlder(api: ApiContext, req: Request, paste: PasteRow): Promise<PasteRow> {
  const { from } = readQuery(req, diffQuery);
  if (from === undefined) return await findParent(api, req, paste);
  const older = await findEvenHeld(api, req, from);
  if (older === null || older.status === 'FAILED')
    throw new RequestError('paste_not_found', 'There is no paste with the code that `from` names.');
  assertNotGone(older);
  assertNotHeld(older, req);
  contextOf(req).shortCode = paste.short_code; // the log line is about the paste of the path
  return older;
}

/** @throws RequestError no_diff, paste_gone or paste_taken_down */
async function findParent(
  { findPaste }: ApiContext,
  req: Request,
  paste: Pick<PasteRow, 'parent'>,
): Promise<PasteRow> {
  if (paste.parent === null)
    throw new RequestError('no_diff', 'This paste was not made from another one, so that it has no diff.');
  const parent = await findPaste(paste.parent);
  if (parent === null || parent.status === 'FAILED' || !canRead(parent, userIdOf(req)))
    throw new RequestError(
      'no_diff',
      'The paste that this one was made from does not exist any more, or you cannot read it.',
    );
  try {
    assertNotGone(parent);
    assertNotHeld(parent, req);
  } catch (error) {
    throw error instanceof RequestError ? aboutParent(error) : error;
  }
  return parent;
}

function aboutParent({ code, message, takedownClass }: RequestError): RequestError {
  const detail = `There is no diff, because the paste that this one was made from cannot be read. ${message}`;
  return new RequestError(code, detail, takedownClass === undefined ? {} : { takedownClass });
}

/** @throws RequestError diff_unavailable for pastes whose contents the server cannot compare, or does not */
export function assertComparable({ paste, older }: DiffedPastes): void {
  if (paste.encrypted || older.encrypted) {
    throw diffUnavailable(
      `The paste ${paste.encrypted ? paste.short_code : older.short_code} is encrypted. Only its readers have the key, so that the server cannot compare the texts.`,
    );
  }
  if (Math.max(paste.size_bytes, older.size_bytes) > MAX_DIFF_BYTES)
    throw diffUnavailable(
      `Texts of more than ${MAX_DIFF_BYTES / 1024} KiB are not compared. Read both pastes and compare them with diff.`,
    );
}

function diffUnavailable(detail: string): RequestError {
  return new RequestError('diff_unavailable', detail);
}

/** The contents are in memory, and then what is made of them: text in lines, and markup. */
const WEIGHT = 9;

/**
 * Reads both contents, and holds their memory until `use` has ended.
 * @throws RequestError overloaded or rate_limited, or when a paste was deleted meanwhile;
 * DependencyUnavailableError
 */
export async function withContents(
  api: ApiContext,
  { req, res, paste, older }: DiffedPastes & { readonly req: Request; readonly res: Response },
  use: (contents: Both<Buffer>) => Promise<void>,
): Promise<void> {
  // One share for both: a second share would be refused for ever where half of the budget is less than the
  // two.
  const larger = Math.max(paste.size_bytes, older.size_bytes);
  const weight = (WEIGHT * (paste.size_bytes + older.size_bytes)) / larger;
  const download = api.downloads.begin(req, larger, weight);
  try {
    const [from, to] = await Promise.all([older, paste].map((each) => contentOf(api, req, res, each)));
    await use({ from: from as Buffer, to: to as Buffer });
  } finally {
    download.release();
  }
}

async function contentOf(api: ApiContext, req: Request, res: Response, paste: PasteRow): Promise<Buffer> {
  const found = await readContent(api.store, api.cache, { paste, range: undefined, accepts: null }, res);
  if (found !== null) return found.bytes;
  // Either the paste was deleted between the statement and the request to S3, or an invariant is broken.
  const now = await api.findPaste(paste.short_code);
  if (now === null)
    throw new RequestError('no_diff', 'One of the two pastes was deleted, so that they have no diff.');
  assertNotGone(now);
  api.logger
    .child({ ...idsOf(contextOf(req)), short_code: paste.short_code })
    .error('PROCESSED paste has no object in S3');
  throw new DependencyUnavailableError('s3');
}
