import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createPaste, findPaste, readPayload } from '../../src/index.ts';
import { newPaste, pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

const contentHash = `sha256:${createHash('sha256').update('x').digest('hex')}`;
const options = {
  content: Buffer.from('x'),
  contentHash,
  title: null,
  syntax: null,
  userId: null,
  visibility: 'unlisted' as const,
  deleteTokenHash: null,
};

it('creating inserts the paste, its payload and a PENDING execution together', async () => {
  const content = Buffer.from([0, 255, 254, 0, 10]);
  const created = await createPaste(current.db, {
    ...options,
    content,
    shortCode: 'together',
    expiresInSeconds: 60,
  });
  expect(await readPayload(current.db, created!.id)).toEqual(content);
  const paste = await findPaste(current.db, 'together');
  expect(paste).toMatchObject({ status: 'IN_PROGRESS', size_bytes: 5, s3_url: null, gone: false });
  expect(paste!.expires_at!.getTime() - paste!.created_at.getTime()).toBe(60_000);
  const { rows } = await sql`SELECT kind, attempt, status, dispatched_at FROM task_executions
    WHERE id = ${created!.executionId}`.execute(current.db);
  expect(rows).toEqual([{ kind: 'upload', attempt: 1, status: 'PENDING', dispatched_at: null }]);
});

it('a paste can be created without an expiry', async () => {
  await createPaste(current.db, { ...options, shortCode: 'forever', expiresInSeconds: null });
  expect(await findPaste(current.db, 'forever')).toMatchObject({ expires_at: null, gone: false });
});

it('an encrypted paste has neither a title nor a language, also for plain SQL', async () => {
  const encrypted = { ...options, encrypted: true, expiresInSeconds: null };
  await createPaste(current.db, { ...encrypted, shortCode: 'sealed' });
  expect(await findPaste(current.db, 'sealed')).toMatchObject({ encrypted: true });
  for (const more of [{ title: 'Secret' }, { syntax: 'rust' }])
    await expect(
      createPaste(current.db, { ...encrypted, ...more, shortCode: 'readable' }),
    ).rejects.toMatchObject({ code: '23514', constraint: 'pastes_encrypted' });
});

/** Bytes of `paste_payloads` outside of its rows. */
async function bytesOutside(): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    SELECT pg_relation_size(reltoastrelid) AS bytes FROM pg_class WHERE oid = 'paste_payloads'::regclass`.execute(
    current.db,
  );
  return Number(rows[0]!.bytes);
}

/** Creates a paste, and reads its content back. @returns how the content is stored */
async function storeContent(content: Buffer): Promise<{ bytes: number; compression: string | null }> {
  const created = await createPaste(current.db, pasteToCreate({ content }));
  expect(await readPayload(current.db, created!.id)).toEqual(content);
  const { rows } = await sql<{ bytes: number; compression: string | null }>`
    SELECT pg_column_size(content) AS bytes, pg_column_compression(content) AS compression
    FROM paste_payloads WHERE paste_id = ${created!.id}`.execute(current.db);
  return rows[0]!;
}

it('content that does not compress is stored in the row of its payload up to 8000 bytes, and in pieces outside above', async () => {
  const before = await bytesOutside();
  expect(await storeContent(randomBytes(8000))).toMatchObject({ compression: null });
  expect(await bytesOutside()).toBe(before);
  expect(await storeContent(randomBytes(9000))).toMatchObject({ compression: null });
  expect(await bytesOutside()).toBeGreaterThan(before);
});

it('text of 2 KB is compressed in the row of its payload, and so is longer text that then fits', async () => {
  const before = await bytesOutside();
  const text = (bytes: number): Buffer =>
    Buffer.from(Array.from({ length: bytes }, (_, n) => `${n % 97} failed, `).join('')).subarray(0, bytes);
  for (const bytes of [2048, 20_000]) {
    const stored = await storeContent(text(bytes));
    expect(stored.compression).toMatch(/^(lz4|pglz)$/);
    expect(stored.bytes).toBeLessThan(bytes / 2);
  }
  expect(await bytesOutside()).toBe(before);
});

it('a short code goes to one of fifty concurrent creations; the others leave nothing behind', async () => {
  const count = async () => (await sql`SELECT FROM task_executions`.execute(current.db)).rows.length;
  const before = await count();
  const results = await Promise.all(
    Array.from({ length: 50 }, () =>
      createPaste(current.db, { ...options, shortCode: 'wanted', expiresInSeconds: null }),
    ),
  );
  expect(results.filter((created) => created !== null)).toHaveLength(1);
  expect(await count()).toBe(before + 1);
});

it('short codes differ by case', async () => {
  await newPaste(current.db);
  await createPaste(current.db, { ...options, shortCode: 'case', expiresInSeconds: null });
  expect(
    await createPaste(current.db, { ...options, shortCode: 'CASE', expiresInSeconds: null }),
  ).not.toBeNull();
  expect(await findPaste(current.db, 'Case')).toBeNull();
});

it('ids sort by the time of creation', async () => {
  const { rows } = await sql<{ sorted: boolean }>`
    SELECT array_agg(id ORDER BY n) = array_agg(id ORDER BY id) AS sorted
    FROM (SELECT n, uuid_v7() AS id, pg_sleep(0.002) FROM generate_series(1, 20) n) AS made`.execute(
    current.db,
  );
  expect(rows[0]?.sorted).toBe(true);
  const { rows: versions } = await sql<{
    id: string;
  }>`SELECT uuid_v7() AS id FROM generate_series(1, 20)`.execute(current.db);
  for (const { id } of versions)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
