import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { PasteRow } from '@pasteflow/postgres';
import { z } from 'zod';
import { diffTexts, MAX_DIFF_LINES } from '../diff/diff-texts.ts';
import { unifiedPatch } from '../diff/hunks.ts';
import { isKnownToClient } from '../http/request/conditional.ts';
import { sendWhole } from '../http/response/send-paced.ts';
import * as headers from '../openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../openapi/endpoint.ts';
import { optionalHeader } from '../openapi/formats.ts';
import {
  assertComparable,
  diffUnavailable,
  findParent,
  withContents,
  type DiffedPastes,
} from './diffed-pastes.ts';
import { example } from './example.ts';
import { findErrors, namesPaste } from './find-named-paste.ts';
import { assertStays, cachingOf, findStored, type ReadContentDependencies } from './read-content.ts';

const diffOperation: Operation = {
  operationId: 'readDiff',
  tag: 'pastes',
  access: 'anyone',
  summary: 'Reads what has changed since the paste that this one was made from; in a browser, as a page.',
  description:
    'The answer is a patch in the unified format of diff, empty for equal content. Content of more than 256 KiB or 5,000 lines, contents whose lines were moved too often, and encrypted ' +
    'ones are answered with `diff_unavailable`.',
  params: {
    path: namesPaste(example.childCode),
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
async function readDiff(deps: ReadContentDependencies, req: Request, res: Response): Promise<void> {
  const stays = (found: PasteRow): void => assertStays(deps, found);
  const paste = await findStored(deps, req, res, stays);
  if (paste === null) return;
  const parent = await findStored(deps, req, res, stays, () => findParent(deps, req, paste));
  if (parent === null) return;
  const diffed = { paste, parent };
  assertComparable(diffed);
  const etag = etagOfDiff(diffed, 'patch');
  const caching = { ETag: etag, 'Cache-Control': `${cachingOfBoth(diffed, res)}, no-transform` };
  if (isKnownToClient(req.get('If-None-Match'), etag)) {
    res.status(304).set(caching).end();
    return;
  }
  await withContents(deps, { req, res, ...diffed }, async (contents) => {
    const diff = diffTexts(contents, 'exact');
    if (diff === null) throw tooComplex();
    const patch = unifiedPatch({ from: parent.short_code, to: paste.short_code }, diff.hunks);
    res.set({
      ...caching,
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': String(patch.length),
    });
    await sendDiff(deps, req, res, patch);
  });
}

export function tooComplex(): Error {
  return diffUnavailable(
    `These texts have more than ${MAX_DIFF_LINES} lines, or too many of their lines were moved. Read both pastes and compare them with diff.`,
  );
}

/** Private content is left in no cache, and a diff has the content of both pastes. */
export function cachingOfBoth({ paste, parent }: DiffedPastes, res: Response): string {
  return cachingOf(parent.visibility === 'private' ? parent : paste, res);
}

export async function sendDiff(
  deps: ReadContentDependencies,
  req: Request,
  res: Response,
  bytes: Buffer,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  const outcome = await sendWhole(bytes, res, deps.sending);
  if (outcome === 'too_slow') deps.events.downloadTooSlow(req);
}

/** @param page the page for a browser */
export function diffAtShortUrl(deps: ReadContentDependencies, page: NonNullable<Endpoint['page']>): Endpoint {
  return { operation: diffOperation, handle: (req, res) => readDiff(deps, req, res), page };
}

/** Raise it when a diff of the same contents is written differently. */
const FORMAT = 1;

/**
 * The entity tag of a diff: of both contents, and of everything else that its form shows. The contents of a
 * paste never change.
 * @param shown what the form shows, as JSON can write it
 */
export function etagOfDiff({ paste, parent }: DiffedPastes, shown: unknown): string {
  const parts = [FORMAT, parent.short_code, parent.content_hash, paste.short_code, paste.content_hash, shown];
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}"`;
}
