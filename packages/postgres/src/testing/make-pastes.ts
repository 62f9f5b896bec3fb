import { createHash, randomBytes } from 'node:crypto';
import { objectKeyOf, shortCodeFrom, type PasteUploadState, type Visibility } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { importRows } from './rows.ts';
import {
  ago,
  endedExecution,
  insertExecutions,
  openExecution,
  type ExecutionColumns,
  type ExecutionShape,
} from './made-executions.ts';

type DeletionShape =
  | { readonly status: 'DELETION_IN_PROGRESS'; readonly secondsAgo: number }
  | { readonly status: 'DELETED'; readonly secondsAgo: number };

interface AnyPaste {
  /** The owner. Default: none. */
  readonly userId?: string;
  /** `private` only with an owner. */
  readonly visibility?: Visibility;
  /** As many as there are pastes. Default: random. */
  readonly shortCodes?: readonly string[];
  readonly content?: Buffer;
  readonly createdSecondsAgo?: number;
  /** The paste is deleted when it is read. Default: it is not. */
  readonly burn?: boolean;
  /** Of the only paste. */
  readonly slug?: string;
  /** The short code of the paste that this one was made from. Default: none. */
  readonly parent?: string;
  /** The short code of the paste, its parent, of which this one is the newer version. Default: none. */
  readonly supersedes?: string;
  /** Negative: expired; null: never. */
  readonly expiresInSeconds?: number | null;
}

/** What a test may choose for a paste of each status. */
interface ShapeOfStatus {
  IN_PROGRESS: { readonly execution?: ExecutionShape };
  PROCESSED: { readonly bucket?: string; readonly deletion?: DeletionShape };
  FAILED: { readonly deletion?: DeletionShape };
}

/** A shape for each status: a test cannot ask for a row that the CHECKs of the schema refuse. */
export type PasteShape = AnyPaste &
  { [Status in PasteUploadState]: { readonly status: Status } & ShapeOfStatus[Status] }[PasteUploadState];

export interface MadePaste {
  readonly id: string;
  readonly shortCode: string;
  /** The open execution, or the one that ended last. */
  readonly executionId: string;
}

const SETTLED_ATTEMPT = { PROCESSED: 1, FAILED: 6 } as const;

/**
 * Creates `count` pastes of one shape, each with its payload and its execution, in one statement that inserts
 * legal rows only.
 */
export async function makePastes(
  db: Database,
  count: number,
  shape: PasteShape,
): Promise<readonly MadePaste[]> {
  const { content = Buffer.from('made for a test'), createdSecondsAgo = 60, expiresInSeconds = null } = shape;
  const shortCodes = shape.shortCodes ?? Array.from({ length: count }, randomShortCode);
  const contentHash = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const deletion = shape.status === 'IN_PROGRESS' ? undefined : shape.deletion;
  const { rows } = await importRows(db, (importing) =>
    sql<MadePaste>`
    WITH paste AS (
      INSERT INTO pastes (short_code, user_id, visibility, for_members, content_hash, size_bytes, status, s3_url, failure_reason, created_at, expires_at,
        processed_at, failed_at, deletion_status, deletion_initiated_at, deleted_at, burn, slug, parent, supersedes)
      SELECT short_code, ${shape.userId ?? null}::uuid, ${shape.visibility === 'members' ? 'private' : (shape.visibility ?? 'unlisted')}, ${shape.visibility === 'members'}::boolean, ${contentHash}, ${content.length}, ${shape.status}, s3_url, ${shape.status === 'FAILED' ? 'made to fail' : null},
        ${ago(createdSecondsAgo)}, ${ago(expiresInSeconds === null ? null : -expiresInSeconds)},
        ${ago(shape.status === 'PROCESSED' ? createdSecondsAgo : null)}, ${ago(shape.status === 'FAILED' ? createdSecondsAgo : null)},
        ${deletion?.status ?? 'NOT_EXPIRED'}, ${ago(deletion?.secondsAgo ?? null)},
        ${ago(deletion?.status === 'DELETED' ? deletion.secondsAgo : null)}, ${shape.burn ?? false}::boolean, ${shape.slug ?? null}::text, ${shape.parent ?? shape.supersedes ?? null}::text, ${shape.supersedes ?? null}::text
      FROM unnest(${shortCodes}::text[], ${shortCodes.map((code) => urlOf(shape, code))}::text[]) AS made (short_code, s3_url)
      RETURNING id, short_code, user_id, created_at
    ), payload AS (
      INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
      SELECT id, ${content}::bytea, user_id, created_at FROM paste WHERE ${shape.status === 'IN_PROGRESS'}
    ), ${insertExecutions('upload', 'paste', executionOf(shape, createdSecondsAgo), createdSecondsAgo)}
    SELECT paste.id, paste.short_code AS "shortCode", execution.id AS "executionId"
    FROM paste JOIN execution ON execution.subject_id = paste.id ORDER BY paste.short_code`.execute(
      importing,
    ),
  );
  return rows;
}

function randomShortCode(): string {
  return shortCodeFrom(randomBytes(64)) ?? randomShortCode();
}

function urlOf(shape: PasteShape, shortCode: string): string | null {
  return shape.status === 'PROCESSED'
    ? `s3://${shape.bucket ?? 'pasteflow'}/${objectKeyOf(shortCode)}`
    : null;
}

function executionOf(shape: PasteShape, age: number): ExecutionColumns {
  if (shape.status === 'IN_PROGRESS') return openExecution(shape.execution ?? { status: 'PENDING' }, age);
  const error = shape.status === 'FAILED' ? 'made to fail' : null;
  return endedExecution({ attempt: SETTLED_ATTEMPT[shape.status], error }, { age });
}
