import type { Request, Response } from 'express';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { canRead } from '@pasteflow/service-kit';
import { findPaste, type PasteRow } from '@pasteflow/postgres';
import { MAX_WHOLE_BYTES } from '../budget/download-budget.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { contextOf, idsOf } from '../http/request/request-context.ts';
import { userIdOf } from '../identity/caller-of.ts';
import { assertNotGone, type FindDependencies } from './find-named-paste.ts';
import type { ReadContentDependencies } from './read-content.ts';
import { readContent } from './stored-content.ts';

/** A paste and the one that it was made from, both readable by the caller. */
export interface DiffedPastes {
  readonly paste: PasteRow;
  readonly parent: PasteRow;
}

/** The size up to which content is read as a whole. */
const MAX_DIFF_BYTES = MAX_WHOLE_BYTES;

/**
 * The parent of a paste, as the caller may read it now.
 * @throws RequestError no_diff, paste_gone or paste_taken_down
 */
export async function findParent(
  { db }: FindDependencies,
  req: Request,
  paste: Pick<PasteRow, 'parent'>,
): Promise<PasteRow> {
  if (paste.parent === null)
    throw new RequestError('no_diff', 'This paste was not made from another one, so that it has no diff.');
  const parent = await findPaste(db, paste.parent);
  if (parent === null || parent.status === 'FAILED' || !canRead(parent, userIdOf(req)))
    throw new RequestError(
      'no_diff',
      'The paste that this one was made from does not exist any more, or only its owner can read it.',
    );
  try {
    assertNotGone(parent);
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
export function assertComparable({ paste, parent }: DiffedPastes): void {
  if (paste.encrypted || parent.encrypted) {
    const which = paste.encrypted ? 'This paste' : 'The paste that this one was made from';
    throw diffUnavailable(
      `${which} is encrypted. Only its readers have the key, so that the server cannot compare the texts.`,
    );
  }
  if (Math.max(paste.size_bytes, parent.size_bytes) > MAX_DIFF_BYTES)
    throw diffUnavailable(
      `Texts of more than ${MAX_DIFF_BYTES / 1024} KiB are not compared. Read both pastes and compare them with diff.`,
    );
}

export function diffUnavailable(detail: string): RequestError {
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
  deps: ReadContentDependencies,
  { req, res, paste, parent }: DiffedPastes & { readonly req: Request; readonly res: Response },
  use: (contents: { readonly from: Buffer; readonly to: Buffer }) => Promise<void>,
): Promise<void> {
  // One share for both: a second share would be refused for ever where half of the budget is less than the
  // two.
  const larger = Math.max(paste.size_bytes, parent.size_bytes);
  const weight = (WEIGHT * (paste.size_bytes + parent.size_bytes)) / larger;
  const download = deps.downloads.begin(req, larger, weight);
  try {
    const [from, to] = await Promise.all([parent, paste].map((each) => contentOf(deps, req, res, each)));
    await use({ from: from as Buffer, to: to as Buffer });
  } finally {
    download.release();
  }
}

async function contentOf(
  deps: ReadContentDependencies,
  req: Request,
  res: Response,
  paste: PasteRow,
): Promise<Buffer> {
  const found = await readContent(deps, { paste, range: undefined, accepts: null }, res);
  if (found !== null) return found.bytes;
  // Either the paste was deleted between the statement and the request to S3, or an invariant is broken.
  const now = await findPaste(deps.db, paste.short_code);
  if (now === null)
    throw new RequestError('no_diff', 'One of the two pastes was deleted, so that they have no diff.');
  assertNotGone(now);
  deps.logger
    .child({ ...idsOf(contextOf(req)), short_code: paste.short_code })
    .error('PROCESSED paste has no object in S3');
  throw new DependencyUnavailableError('s3');
}
