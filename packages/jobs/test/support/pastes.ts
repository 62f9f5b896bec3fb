import { createHash } from 'node:crypto';
import { objectKeyOf, type ContentEncoding, type PasteFile, type Visibility } from '@pasteflow/domain';
import { makePastes } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import type { World } from './world.ts';

export interface PasteFacts {
  readonly userId?: string;
  readonly title?: string | null;
  readonly syntax?: string | null;
  readonly visibility?: Visibility;
  readonly createdSecondsAgo?: number;
  readonly expiresInSeconds?: number | null;
  readonly shortCode?: string;
  readonly burn?: boolean;
  readonly slug?: string;
  readonly files?: readonly PasteFile[];
}

/** Creates a PROCESSED paste with its object in S3. @returns its short code */
export async function storedPaste(
  world: World,
  content: Buffer | string,
  facts: PasteFacts = {},
): Promise<string> {
  const bytes = Buffer.from(content);
  const shortCode = await pasteRow(world, 'PROCESSED', bytes, facts);
  await putObject(world, shortCode, bytes);
  return shortCode;
}

/** Creates a paste whose content is still in its payload. @returns its short code */
export function waitingPaste(
  world: World,
  content: Buffer | string,
  facts: PasteFacts = {},
): Promise<string> {
  return pasteRow(world, 'IN_PROGRESS', Buffer.from(content), facts);
}

export async function putObject(
  { store }: World,
  shortCode: string,
  object: Buffer,
  encoding: ContentEncoding | null = null,
): Promise<void> {
  const sha256 = createHash('sha256').update(object).digest();
  await store.put(objectKeyOf(shortCode), object, { sha256, encoding });
}

/** Creates only the row of a paste. @returns its short code */
export async function pasteRow(
  { db }: World,
  status: 'IN_PROGRESS' | 'PROCESSED' | 'FAILED',
  content: Buffer,
  { title = null, syntax = null, files, shortCode, ...facts }: PasteFacts = {},
): Promise<string> {
  const [paste] = await makePastes(db, 1, {
    status,
    content,
    ...facts,
    ...(shortCode !== undefined && { shortCodes: [shortCode] }),
  });
  const stored = files === undefined ? null : JSON.stringify(files);
  await sql`UPDATE pastes SET title = ${title}, syntax = ${syntax}, files = ${stored}::jsonb WHERE id = ${paste!.id}`.execute(
    db,
  );
  return paste!.shortCode;
}

export interface ImportedPasteRow {
  readonly position: number;
  readonly title: string | null;
  readonly syntax: string | null;
  readonly files: readonly PasteFile[] | null;
  readonly visibility: Visibility;
  readonly encrypted: boolean;
  readonly user_id: string;
  readonly short_code: string;
  readonly content_hash: string;
  readonly expires_in: number | null;
  readonly content: Buffer;
}

/** The pastes that a job has imported, by position, with the content of their payloads. */
export async function importedBy({ db }: World, jobId: string): Promise<ImportedPasteRow[]> {
  const { rows } = await sql<ImportedPasteRow>`
    SELECT a.position, p.title, p.syntax, p.files, p.visibility, p.encrypted, p.user_id, p.short_code, p.content_hash,
      extract(epoch FROM p.expires_at - p.created_at)::integer AS expires_in, payload.content
    FROM assets a JOIN pastes p ON a.storage_path = 'pastes/' || p.short_code JOIN paste_payloads payload ON payload.paste_id = p.id
    WHERE a.job_id = ${jobId} ORDER BY a.position`.execute(db);
  return rows;
}

export async function pasteCount({ db }: World): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM pastes`.execute(db);
  return rows[0]!.count;
}
