import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { createPaste, migrate, pingDatabase, type Database } from '../../src/index.ts';
import { open } from '../support/database.ts';

let stack: TestStack;
let db: Database;

beforeAll(async () => {
  stack = await startTestStack();
  db = open((await createTestDatabase(stack, { migrated: false })).url);
});

afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

it('three processes that migrate an empty database at once apply each migration once', async () => {
  const applied = await Promise.all([migrate(db), migrate(db), migrate(db)]);
  expect(applied.flat().toSorted()).toEqual([
    '0001-uuid-v7',
    '0002-users',
    '0003-pastes',
    '0004-paste-payloads',
    '0005-task-executions',
    '0006-jobs',
    '0007-state-transitions',
    '0008-api-tokens',
    '0009-paste-owners',
    '0010-assets',
    '0011-idempotency-keys',
    '0012-rate-limits',
    '0013-measurements',
    '0014-what-jobs-made',
    '0015-installation',
    '0016-losses',
    '0018-fair-jobs',
    '0019-retried-executions',
    '0020-rescues',
    '0021-inline-payloads',
    '0022-takedowns',
    '0023-encrypted-pastes',
    '0024-browser-sessions',
    '0025-stored-encoding',
    '0026-burn-after-reading',
    '0029-compressed-payloads',
    '0030-slugs',
    '0031-parents',
    '0032-one-index-by-subject',
    '0033-cheap-patterns',
    '0034-room-for-settlements',
    '0035-uncounted-transitions',
    '0036-trail-by-entity',
    '0037-readers-of-burned-pastes',
    '0038-copies-of-content',
    '0039-deletion-requests',
    '0041-sessions-of-tokens',
    '0042-bytes-of-callers',
  ]);
});

it('migrating again applies nothing and changes nothing', async () => {
  const constraints = () =>
    sql`SELECT oid, conname FROM pg_constraint WHERE contype = 'c' ORDER BY oid`.execute(db);
  const before = await constraints();
  expect(await migrate(db)).toEqual([]);
  expect(await constraints()).toEqual(before);
});

it('an unavailable Postgres is a typed error, and the pool works again once Postgres is back', async () => {
  await stack.restartPostgres(async () => {
    await expect(pingDatabase(db)).rejects.toMatchObject({
      code: 'dependency_unavailable',
      dependency: 'postgres',
    });
  });
  await pingDatabase(db);
});

it('a connection that ends during a statement is a typed error', async () => {
  const suicide = sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(db);
  await expect(suicide).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

it('an error of the schema stays as it is: it is a defect, not an outage', async () => {
  const wrong = createPaste(db, {
    shortCode: 'x',
    content: Buffer.from('x'),
    contentHash: 'md5:nonsense',
    title: null,
    syntax: null,
    expiresInSeconds: null,
    userId: null,
    visibility: 'unlisted',
    deleteTokenHash: null,
  });
  await expect(wrong).rejects.toMatchObject({ code: '23514', constraint: 'pastes_content_hash_check' });
});
