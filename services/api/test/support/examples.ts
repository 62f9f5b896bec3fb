import { randomBytes } from 'node:crypto';
import type { ChosenOptions } from '@pasteflow/domain';
import { createPaste, type Database } from '@pasteflow/postgres';
import { example as exampleJob } from '../../src/jobs/job-view.ts';
import { example } from '../../src/pastes/example.ts';
import { exampleTokenId } from '../../src/tokens/own-tokens.ts';
import { exampleRequest } from '../../src/secret-requests/request-view.ts';
import { exampleWebhook } from '../../src/webhooks/webhook-view.ts';
import type { ApiBed } from './api.ts';
import { sha256, upload } from './pastes.ts';
import type { TestUser } from './users.ts';
import { putDelivery } from './webhooks.ts';

/**
 * The paste of the document's examples, PROCESSED. An existing one is restored, as it may have been deleted.
 * @param owner null: anonymous
 */
export async function putExamplePaste({ db, store }: ApiBed, owner: TestUser | null): Promise<void> {
  await db.deleteFrom('slug_versions').where('slug', '=', example.slug).execute();
  await db
    .updateTable('pastes')
    .set({ slug: null, version: null })
    .where('slug', '=', example.slug)
    .execute();
  await putPaste({ db, store }, owner, example.shortCode);
  await putPaste({ db, store }, owner, example.burnCode, { burn: true });
  await putPaste({ db, store }, owner, example.childCode, { parent: example.shortCode });
  await putPaste({ db, store }, owner, example.filesCode, { files: example.files });
  if (owner === null) return;
  await db
    .updateTable('pastes')
    .set({ slug: example.slug, version: null })
    .where('short_code', '=', example.shortCode)
    .execute();
}

async function putPaste(
  { db, store }: Pick<ApiBed, 'db' | 'store'>,
  owner: TestUser | null,
  shortCode: string,
  options: Pick<ChosenOptions, 'burn' | 'parent' | 'files'> = {},
): Promise<void> {
  await db
    .deleteFrom('pastes')
    .where('short_code', '=', shortCode)
    .where('deletion_requested_at', 'is not', null)
    .execute();
  const { numUpdatedRows } = await db
    .updateTable('pastes')
    .set({ expires_at: null, deletion_requested_at: null, user_id: owner?.id ?? null })
    .where('short_code', '=', shortCode)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  await createPaste(db, {
    ...options,
    shortCode,
    content: Buffer.from(example.content),
    contentHash: example.contentHash,
    title: example.title,
    syntax: options.files === undefined ? example.syntax : null,
    expiresInSeconds: example.expiresIn,
    userId: owner?.id ?? null,
    visibility: 'unlisted',
    deleteTokenHash: sha256(example.deleteToken),
  });
  await upload(db, store, shortCode, example.content);
}

/** The job of the document's examples, with an asset. */
export async function putExampleJob({ db }: ApiBed, owner: TestUser): Promise<void> {
  await db
    .insertInto('jobs')
    .values({ id: exampleJob.id, user_id: owner.id, job_type: 'export', parameters: '{}' })
    .execute();
  await db
    .insertInto('task_executions')
    .values({ kind: 'job', subject_id: exampleJob.id, user_id: owner.id, attempt: 1 })
    .execute();
  await db
    .insertInto('assets')
    .values({
      id: exampleJob.assetId,
      job_id: exampleJob.id,
      user_id: owner.id,
      asset_type: 'paste',
      url: `s3://pasteflow/pastes/${example.shortCode}`,
      storage_path: `pastes/${example.shortCode}`,
      file_size: example.content.length,
    })
    .execute();
}

/** The token that the document's examples revoke. It is good again each time. */
export async function putExampleOwnToken(db: Database, owner: TestUser): Promise<void> {
  const token = { user_id: owner.id, name: 'made', token_hash: randomBytes(32), scope: 'read' as const };
  await db
    .insertInto('api_tokens')
    .values({ ...token, id: exampleTokenId, expires_at: new Date(Date.now() + 3_600_000) })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...token, revoked_at: null }))
    .execute();
}

/** The request of the document's examples takes deposits again each time. */
export async function putExampleRequest(db: Database, owner: TestUser): Promise<void> {
  const { code, message, expiresIn } = exampleRequest;
  await db.deleteFrom('secret_requests').where('code', '=', code).execute();
  const expires_at = new Date(Date.now() + expiresIn * 1000);
  await db
    .insertInto('secret_requests')
    .values({ code, user_id: owner.id, message, places: 1, expires_at })
    .execute();
}

/** The endpoint of the document's examples, on, with a delivery that has ended. */
export async function putExampleWebhook(db: Database, owner: TestUser): Promise<void> {
  const { id, url, deliveryId, eventId } = exampleWebhook;
  await db.deleteFrom('webhook_deliveries').where('endpoint_id', '=', id).execute();
  await db.deleteFrom('webhook_endpoints').where('user_id', '=', owner.id).execute();
  await db
    .insertInto('webhook_endpoints')
    .values({ id, user_id: owner.id, url, events: ['paste.stored', 'job.ended'] })
    .execute();
  await putDelivery(db, { id: deliveryId, endpointId: id, eventId, userId: owner.id });
}
