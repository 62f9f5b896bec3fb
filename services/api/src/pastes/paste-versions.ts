import {
  findMovableSlug,
  findNewestVersions,
  listChainVersions,
  listSlugVersions,
  type Database,
  type PasteRow,
  type SlugVersion,
} from '@pasteflow/postgres';
import type { ShownPaste } from '@pasteflow/web';
import type { Request } from 'express';
import { userIdOf } from '../http/callers/caller-of.ts';

export const MAX_LISTED_VERSIONS = 100;

/** Newest first. A paste without versions is the only one. */
export async function versionsOf(
  db: Database,
  req: Request,
  paste: PasteRow,
  limit = MAX_LISTED_VERSIONS,
): Promise<readonly SlugVersion[]> {
  const reader = { userId: userIdOf(req), limit };
  if (paste.version !== null) return await listSlugVersions(db, paste.id, reader);
  if (paste.supersedes !== null || paste.superseded_by !== null)
    return await listChainVersions(db, paste.id, reader);
  const { short_code, title, size_bytes, visibility, parent, created_at: namedAt } = paste;
  return [{ number: 1, short_code, title, size_bytes, visibility, parent, namedAt }];
}

/**
 * The short code of the newest version of a paste that the caller can read; null: there is none. Nothing is looked up
 * for a paste that was never superseded.
 */
export async function newestVersionOf(
  db: Database,
  req: Request,
  { short_code: code, superseded_by: newer }: Pick<PasteRow, 'short_code' | 'superseded_by'>,
): Promise<string | null> {
  if (newer === null) return null;
  return (await findNewestVersions(db, [code], userIdOf(req))).get(code) ?? null;
}

/**
 * What the page of a paste says of its versions: which one it is, whether there is a newer one, or that its owner
 * can move a slug to it. A paste that is no version costs no statement.
 */
export async function namingOf(
  db: Database,
  req: Request,
  paste: PasteRow,
): Promise<Pick<ShownPaste, 'version' | 'newer' | 'movable'>> {
  const isSuperseding = paste.supersedes !== null || paste.superseded_by !== null;
  const movable = await movableTo(db, req, paste);
  if (paste.version === null && !isSuperseding) return movable;
  const versions = await versionsOf(db, req, paste, paste.version === null ? undefined : 1);
  const number =
    paste.version ?? versions.find(({ short_code: code }) => code === paste.short_code)?.number ?? 1;
  const [newest] = versions;
  const isNewer = newest !== undefined && newest.number > number;
  return {
    version: { number, newest: Math.max(number, newest?.number ?? 0) },
    ...(isNewer && { newer: newest.short_code }),
    ...movable,
  };
}

async function movableTo(db: Database, req: Request, paste: PasteRow): Promise<Pick<ShownPaste, 'movable'>> {
  const userId = userIdOf(req);
  const mayMove = userId !== null && paste.user_id === userId && paste.status === 'PROCESSED';
  const isNamed = paste.slug !== null || paste.version !== null;
  const isRefused = isNamed || paste.encrypted || paste.burn || paste.held_at !== null;
  if (!mayMove || paste.parent === null || isRefused) return {};
  return { movable: await findMovableSlug(db, paste.parent, userId) };
}
