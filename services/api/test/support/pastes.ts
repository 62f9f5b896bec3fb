import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { objectKeyOf, type ContentEncoding, type PasteFile, type Visibility } from '@pasteflow/domain';
import {
  claimExecutions,
  claimExpired,
  createPaste,
  settleDeleted,
  settleExecutions,
  uploadSubject,
  type ClaimedDeletion,
  type Database,
  type UploadSettlement,
} from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';

/** Names a host and a process, as a worker does. */
const ACTOR = 'upload-worker/host-17-4711-ab12';

export function sha256(content: Buffer | string): Buffer {
  return createHash('sha256').update(content).digest();
}

/** The owner, the visibility and the slug of a paste. Default: anonymous, unlisted and without a slug. */
export interface Ownership {
  readonly userId?: string | null;
  readonly visibility?: Visibility;
  readonly burn?: boolean;
  readonly slug?: string;
  readonly parent?: string;
  readonly supersedes?: string;
  readonly title?: string;
  readonly encrypted?: boolean;
  readonly files?: readonly PasteFile[];
}

/**
 * A paste IN_PROGRESS, inserted without the api. `the token` deletes an anonymous one.
 * @returns its short code
 */
export async function newPaste(
  db: Database,
  content: Buffer | string = 'hello',
  {
    userId = null,
    visibility = 'unlisted',
    burn = false,
    slug,
    supersedes,
    parent = supersedes,
    title,
    encrypted = false,
    files,
  }: Ownership = {},
): Promise<string> {
  const shortCode = randomBytes(5).toString('hex');
  const created = await createPaste(db, {
    shortCode,
    content: Buffer.from(content),
    contentHash: `sha256:${sha256(content).toString('hex')}`,
    title: title ?? null,
    syntax: null,
    expiresInSeconds: 3600,
    userId,
    visibility,
    deleteTokenHash: userId === null ? sha256('the token') : null,
    burn,
    encrypted,
    ...(supersedes !== undefined && { supersedes }),
    ...(slug !== undefined && { slug }),
    parent: parent ?? null,
    files: files ?? null,
  });
  if (created === null) throw new Error('the short code was taken');
  return shortCode;
}

/** Puts the object and settles the upload, as the worker does. */
export async function upload(
  db: Database,
  store: ObjectStore,
  shortCode: string,
  content: Buffer | string,
): Promise<void> {
  await store.put(objectKeyOf(shortCode), Buffer.from(content), { sha256: sha256(content) });
  await settle(db, shortCode, store.urlOf(objectKeyOf(shortCode)));
}

export async function processedPaste(
  { db, store }: { db: Database; store: ObjectStore },
  content: Buffer | string,
  ownership: Ownership = {},
): Promise<string> {
  const shortCode = await newPaste(db, content, ownership);
  await upload(db, store, shortCode, content);
  return shortCode;
}

/** A paste whose object is compressed. */
export async function compressedPaste(
  { db, store }: { db: Database; store: ObjectStore },
  content: Buffer | string,
  ownership: Ownership = {},
): Promise<string> {
  const shortCode = await newPaste(db, content, ownership);
  await putCompressed(store, shortCode, gzipSync(content));
  await settle(db, shortCode, store.urlOf(objectKeyOf(shortCode)), 'gzip');
  return shortCode;
}

export async function putCompressed(store: ObjectStore, shortCode: string, object: Buffer): Promise<void> {
  await store.put(objectKeyOf(shortCode), object, { sha256: sha256(object), encoding: 'gzip' });
}

export async function failedPaste(db: Database, ownership: Ownership = {}): Promise<string> {
  const shortCode = await newPaste(db, 'hello', ownership);
  await settle(db, shortCode, null);
  return shortCode;
}

/** Claims the upload and ends it: with this URL, or null for a failure. */
export async function settle(
  db: Database,
  shortCode: string,
  s3Url: string | null,
  encoding: ContentEncoding | null = null,
): Promise<void> {
  await settleExecution(db, await claimUpload(db, shortCode), s3Url, encoding);
}

/** @returns the id of the execution */
export async function claimUpload(db: Database, shortCode: string): Promise<string> {
  const claim = (
    await claimExecutions(db, uploadSubject, { keys: [shortCode], actor: ACTOR, leaseSeconds: 60 })
  ).get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error(`${shortCode} can't be claimed: ${claim?.kind}`);
  return claim.execution.executionId;
}

/** In one statement. */
export async function settleExecution(
  db: Database,
  executionId: string,
  s3Url: string | null,
  encoding: ContentEncoding | null = null,
): Promise<void> {
  const settlement =
    s3Url === null
      ? {
          outcome: { kind: 'failed', error: 'storage unavailable: S3 answered 503' },
          nextStep: { kind: 'give_up', reason: 'storage unavailable: S3 was down' },
        }
      : { outcome: { kind: 'succeeded', s3Url, encoding }, nextStep: { kind: 'done' } };
  await settleExecutions(db, uploadSubject, [{ executionId, ...settlement } as UploadSettlement], {
    actor: ACTOR,
    dispatched: true,
  });
}

export async function expire(db: Database, shortCode: string): Promise<void> {
  await db
    .updateTable('pastes')
    .set({ expires_at: new Date(Date.now() - 60_000) })
    .where('short_code', '=', shortCode)
    .execute();
}

/** Expires a paste and claims it for deletion: in one transaction, so that no other claim takes the paste. */
export async function claimForDeletion(db: Database, shortCode: string): Promise<ClaimedDeletion> {
  const claims = await db.transaction().execute(async (tx) => {
    await expire(tx, shortCode);
    return await claimExpired(tx, { actor: 'janitor/test', limit: 1000 });
  });
  const claim = claims.find((each) => each.shortCode === shortCode);
  if (claim === undefined) throw new Error(`${shortCode} was not claimed`);
  return claim;
}

export async function deletedPaste(db: Database, shortCode: string): Promise<void> {
  await settleDeleted(db, [await claimForDeletion(db, shortCode)], 'janitor/test');
}

export function pasteRow(db: Database, shortCode: string) {
  return db.selectFrom('pastes').selectAll().where('short_code', '=', shortCode).executeTakeFirst();
}

export async function countPastes(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('pastes')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
