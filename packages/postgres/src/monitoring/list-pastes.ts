import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Page, PageRequest, Place } from '../database/page.ts';
import { hasPart } from '../pastes/own-pastes.ts';
import { isThere } from '../schema/pastes.ts';
import { findNewest, MAX_SCANNED, type Source } from './newest-first.ts';

/** The states that operators choose from: those of the upload are of pastes that are not deleted. */
export const listedPasteStates = ['there', 'in_progress', 'processed', 'failed', 'deleted'] as const;

export type ListedPasteState = (typeof listedPasteStates)[number];

export interface PasteFilter {
  /** `there`: not deleted; `deleted`: deleted, to be deleted, or expired. */
  readonly state: ListedPasteState;
  /** A part of the title, in any case; null: any title. */
  readonly title: string | null;
  /** The id of a user; null: anybody's. */
  readonly userId: string | null;
}

/** A paste as operators see it in a list: never its content. */
export interface PasteOfAnybody {
  readonly shortCode: string;
  readonly title: string | null;
  /** null: an anonymous paste. */
  readonly userId: string | null;
  readonly state: ListedPasteState;
  readonly sizeBytes: number;
  readonly createdAt: Date;
  /** null: never. */
  readonly expiresAt: Date | null;
  readonly isHeld: boolean;
}

const read = sql`r.*`;

const columns = sql`r.short_code AS "shortCode", r.title, r.user_id AS "userId", r.size_bytes AS "sizeBytes",
      r.created_at AS "createdAt", r.expires_at AS "expiresAt", r.held_at IS NOT NULL AS "isHeld",
      CASE WHEN ${isThere('r')} THEN lower(r.status) ELSE 'deleted' END AS state`;

/** A page of everybody's pastes, newest first. */
export async function listPastesOfAll(
  db: Database,
  { state, title, userId }: PasteFilter,
  page: PageRequest,
  maxScanned = MAX_SCANNED,
): Promise<Page<PasteOfAnybody & { readonly place: Place }>> {
  const isInState =
    state === 'there' || state === 'deleted' ? sql`true` : sql`r.status = ${state.toUpperCase()}`;
  const matches = sql<boolean>`${state === 'deleted' ? sql`NOT ${isThere('r')}` : isThere('r')} AND ${isInState}
      AND ${title === null ? sql`true` : hasPart(sql`normalize(r.title, NFC)`, title)}
      AND (${userId}::uuid IS NULL OR r.user_id = ${userId}::uuid)`;
  const source = sourceOf({ state, userId }, page, maxScanned);
  return await findNewest<PasteOfAnybody>(db, { source, columns, matches }, page, maxScanned);
}

/** Open and failed uploads are few, and may be old. The index of an owner's pastes has none that a cleanup has claimed. */
function sourceOf(
  { state, userId }: Pick<PasteFilter, 'state' | 'userId'>,
  { after }: PageRequest,
  maxScanned: number,
): Source {
  if (userId !== null && state !== 'deleted')
    return {
      read,
      order: 'creation',
      from: sql`pastes r WHERE r.user_id = ${userId}::uuid AND r.deletion_initiated_at IS NULL`,
    };
  if (state === 'failed')
    return { read, order: 'creation', from: sql`pastes r WHERE r.failed_at IS NOT NULL` };
  if (state === 'in_progress') return { read, order: 'id', from: openUploads(after, maxScanned) };
  return { read, order: 'id', from: sql`pastes r WHERE true` };
}

function openUploads(after: Place | null, maxScanned: number): RawBuilder<unknown> {
  return sql`(
        SELECT paste_id FROM paste_payloads ${after === null ? sql`` : sql`WHERE paste_id < ${after.id}::uuid`}
        ORDER BY paste_id DESC LIMIT ${maxScanned}) AS payload JOIN pastes r ON r.id = payload.paste_id WHERE true`;
}
