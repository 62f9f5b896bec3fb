import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { createPaste, migrate, pingDatabase, type Database } from '../../src/index.ts';
import { migrations } from '../../src/migrations/all.ts';
import { createRoles } from '../../src/roles/create-roles.ts';
import { OWNER_ROLE } from '../../src/roles/role-names.ts';
import { takeOwnership } from '../../src/roles/take-ownership.ts';
import { open } from '../support/database.ts';

let stack: TestPostgres;
let db: Database;

beforeAll(async () => {
  stack = await startTestPostgres();
  db = open((await createTestDatabase(stack, { migrated: false })).url);
});

afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

it('three processes that migrate an empty database at once apply each migration once', async () => {
  const applied = await Promise.all([migrate(db), migrate(db), migrate(db)]);
  expect(applied.flat().toSorted()).toEqual([
    '0001-users',
    '0002-pastes',
    '0003-jobs',
    '0004-executions',
    '0005-audit-trail',
    '0006-requests',
    '0007-operations',
    '0008-job-titles',
    '0009-reports',
    '0010-quotas',
    '0011-own-tokens',
    '0012-work-kinds',
    '0013-slug-versions',
    '0014-operators-and-erasures',
    '0015-refused-rows',
    '0016-archives',
    '0017-one-next-job',
    '0018-cleared-titles',
    '0019-keys-in-bytes',
    '0020-supersedes',
    '0021-paste-changes',
    '0022-files',
    '0023-secrets-between-people',
    '0024-webhooks',
    '0025-invitations',
    '0026-rules-of-imports',
    '0027-untold-events',
  ]);
});

it('a new database has the partitions of this month and the next two', async () => {
  const { rows } = await sql`
    SELECT FROM pg_partition_tree('state_transitions') WHERE relid::regclass::text ~ '^state_transitions_[0-9_]+$'`.execute(
    db,
  );
  expect(rows).toHaveLength(3);
});

it('migrating again applies nothing and changes nothing', async () => {
  const constraints = () =>
    sql`SELECT oid, conname FROM pg_constraint WHERE contype = 'c' ORDER BY oid`.execute(db);
  const before = await constraints();
  expect(await migrate(db)).toEqual([]);
  expect(await constraints()).toEqual(before);
});

it('each migration works on what pasteflow_owner has, as after the release before it', async () => {
  const upgraded = open((await createTestDatabase(stack, { migrated: false })).url);
  await createRoles(upgraded, {});
  const migrator = new Migrator({
    db: upgraded,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  });
  for (const name of Object.keys(migrations)) {
    const { error, results } = await migrator.migrateUp();
    expect([results?.map(({ migrationName }) => migrationName), error]).toEqual([[name], undefined]);
    await takeOwnership(upgraded);
  }
  const { rows } = await sql`
    SELECT DISTINCT tableowner AS owner FROM pg_tables WHERE tablename = 'webhook_deliveries'`.execute(
    upgraded,
  );
  expect(rows).toEqual([{ owner: OWNER_ROLE }]);
  await upgraded.destroy();
});

it('a database from before release 0.1.0 is refused unchanged, with what to do', async () => {
  const earlier = open((await createTestDatabase(stack, { migrated: false })).url);
  await sql`CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL)`.execute(
    earlier,
  );
  await sql`INSERT INTO kysely_migration VALUES ('0001-uuid-v7', '2026-11-22T00:00:00Z'), ('0002-users', '2026-11-22T00:00:00Z')`.execute(
    earlier,
  );
  await expect(migrate(earlier)).rejects.toThrow(
    /^the database \w+ was made before release 0\.1\.0 and can't be upgraded\. Export: .*`pasteflow export`.* Start anew: .*DATABASE_URL.*S3_BUCKET.* Import: .*`pasteflow import`$/,
  );
  const { rows } = await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`.execute(earlier);
  expect(rows).toEqual([{ tablename: 'kysely_migration' }]);
  await earlier.destroy();
});

it('a database that a later release has migrated is refused, with what to do', async () => {
  const later = open((await createTestDatabase(stack)).url);
  await sql`INSERT INTO kysely_migration VALUES ('9999-later', '2027-01-01T00:00:00Z')`.execute(later);
  await expect(migrate(later)).rejects.toThrow(
    /^a later release has migrated the database \w+ \(9999-later\)\..* start them without a migration$/,
  );
  await later.destroy();
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
