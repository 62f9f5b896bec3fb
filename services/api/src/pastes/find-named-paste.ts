import type { Request } from 'express';
import { isShortCode } from '@pasteflow/domain';
import { findPaste, type Database, type PasteRow } from '@pasteflow/postgres';
import { contextOf } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';

/** The paste that the URL names, or null. What can't be a short code never reaches the database. */
export async function findNamedPaste(db: Database, req: Request): Promise<PasteRow | null> {
  const shortCode = String(req.params.short_code);
  if (!isShortCode(shortCode)) return null;
  contextOf(req).shortCode = shortCode;
  return await findPaste(db, shortCode);
}

/** D4: an expired, claimed or deleted paste is never served. */
export function assertNotGone(paste: PasteRow): void {
  if (paste.expired || paste.deletion_status !== 'NOT_EXPIRED') throw pasteGone();
}

export function pasteNotFound(): RequestError {
  return new RequestError('paste_not_found', 'There is no paste of this short code; check the URL.');
}

export function pasteGone(): RequestError {
  return new RequestError('paste_gone', 'This paste has expired or was deleted, and will not come back.');
}
