import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  blockContent,
  createWebhook,
  findEnforcementGaps,
  findRightsGaps,
  listContentBlocks,
  listReported,
  migrate,
  moveSlug,
  rejectReports,
  reportPaste,
  takeDown,
  type Database,
} from '../../src/index.ts';
import { makeDeliveries, makeJobs, makePastes, makeUsers } from '../../src/testing/index.ts';
import { open } from '../support/database.ts';
import { urlOfRole } from '../support/roles.ts';

/**
 * docs/deploy.md, "Dumps and imports". pg_dump refuses a server that is newer than itself: with the embedded
 * Postgres 18 these tests run only where pg_dump 18 is installed. `npm run proof -- postgres-versions` runs
 * them on 15 where pg_dump 15 is installed, and on 18 with programs that it installs.
 */
let stack: TestPostgres;
let original: { readonly url: string; readonly db: Database };
let folder: string;
let dump: string;
const opened: Database[] = [];

const installed =
  /(\d+)/.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? '0';
const server = /postgres-(\d+)\./.exec(process.env.TEST_POSTGRES_FROM ?? 'postgres-18.')?.[1];
const describeWithTools = Number(installed) >= Number(server) ? describe : describe.skip;

/** @returns null when the command succeeded, or else what it printed */
function run(command: string, args: readonly string[], env: Record<string, string> = {}): string | null {
  const { PATH = '' } = process.env;
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { PATH, ...env } });
  return status === 0 ? null : stderr;
}

async function otherDatabase({ migrated }: { migrated: boolean }): Promise<{ url: string; db: Database }> {
  const { url } = await createTestDatabase(stack, { migrated });
  const db = open(url, 2);
  opened.push(db);
  return { url, db };
}

/** Those that docs/deploy.md names. */
const TABLES = [
  ...readFileSync(join(import.meta.dirname, '../../../../docs/deploy.md'), 'utf8').matchAll(
    /--table '?([a-z_]+)/g,
  ),
].map(([, table]) => table!);

/** Those that an import leaves out: what is secret, what operators and sweeps have done here, and what is counted anew. */
const LEFT_OUT = [
  'api_tokens',
  'bucket_adoptions',
  'idempotency_keys',
  'installation',
  'invitations',
  'operator_actions',
  'operator_sessions',
  'orphan_objects',
  'rate_limits',
  'stored_usage',
  'sweep_runs',
  'transition_statistics',
  'uncounted_transitions',
  'work_kinds',
];

async function counts(db: Database): Promise<readonly unknown[]> {
  const each = TABLES.map(
    (table) => sql`SELECT ${sql.lit(table)} AS "table", count(*)::integer FROM ${sql.table(table)}`,
  );
  return (await sql`${sql.join(each, sql` UNION ALL `)} ORDER BY 1`.execute(db)).rows;
}

async function moveASlug(db: Database, userId: string): Promise<void> {
  const of = { status: 'PROCESSED', userId } as const;
  const [from] = await makePastes(db, 1, { ...of, slug: 'dumped' });
  const [to] = await makePastes(db, 1, { ...of, parent: from!.shortCode });
  const move = { slug: 'dumped', userId, from: from!.shortCode, to: to!.shortCode };
  expect(await moveSlug(db, move, 'api/test')).toBe('moved');
}

/** The operators' endpoint is told of the reports that follow: once, and not again by the import of these. */
async function makeWebhooks(db: Database, userId: string): Promise<void> {
  await createWebhook(db, { userId: null, url: 'https://ops.example.org/', events: ['report.opened'] });
  const own = await createWebhook(db, { userId, url: 'https://a.example.org/', events: ['paste.stored'] });
  for (const status of ['WAITING', 'DELIVERED', 'FAILED'] as const)
    await makeDeliveries(db, own!.id, 2, { status });
}

/** Of three pastes one is held, the reports of one were rejected, and one was taken down and blocked. */
async function holdAndClear(db: Database): Promise<void> {
  const by = { actor: 'ops/test', class: 'spam', reason: 'why' } as const;
  const codes = [];
  for (const content of ['held', 'cleared', 'down']) {
    const [paste] = await makePastes(db, 1, { status: 'PROCESSED', content: Buffer.from(content) });
    const report = { class: 'spam', text: null, contact: null, reporter: 'a' } as const;
    await reportPaste(db, paste!.id, report, 1);
    codes.push(paste!.shortCode);
  }
  await rejectReports(db, codes[1]!, by);
  await takeDown(db, [codes[2]!], by);
  await blockContent(db, `sha256:${'0'.repeat(64)}`, by);
}

/** Without its reports a held paste would be held for ever. */
async function decisions(db: Database): Promise<readonly unknown[]> {
  return [
    await listReported(db, { by: 'age', limit: 10 }),
    await listContentBlocks(db, 10),
    await db.selectFrom('cleared_contents').selectAll().execute(),
    await db.selectFrom('slug_versions').selectAll().orderBy('number').execute(),
    await db.selectFrom('takedowns').selectAll().execute(),
    (await sql`SELECT owner, sum(pastes), sum(bytes) FROM stored_usage GROUP BY 1 ORDER BY 1`.execute(db))
      .rows,
  ];
}

it('names every table of the schema, or leaves it out with a reason', async () => {
  const alone = await startTestPostgres();
  const db = open((await createTestDatabase(alone, { migrated: true })).url, 1);
  try {
    const { rows } = await sql<{ name: string }>`
      SELECT relname AS name FROM pg_class
      WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'kysely%'
      ORDER BY 1`.execute(db);
    expect([...new Set([...TABLES, ...LEFT_OUT])].toSorted()).toEqual(rows.map(({ name }) => name));
  } finally {
    await db.destroy();
    await alone.stop();
  }
});

describeWithTools(`pg_restore ${installed} with a server ${server}`, () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pasteflow-dump-'));
    dump = join(folder, 'dump');
    stack = await startTestPostgres();
    original = await otherDatabase({ migrated: true });
    const [user] = await makeUsers(original.db, 1);
    for (const status of ['IN_PROGRESS', 'PROCESSED', 'FAILED'] as const)
      await makePastes(original.db, 3, { status });
    for (const status of ['queued', 'processing', 'completed'] as const)
      await makeJobs(original.db, 2, { userId: user!.id, status });
    await sql`UPDATE jobs SET status = 'processing' WHERE status = 'queued'`.execute(original.db); // transitions
    await makeWebhooks(original.db, user!.id);
    await moveASlug(original.db, user!.id);
    await holdAndClear(original.db);
    await sql`UPDATE pastes SET counted = true`.execute(original.db);
    expect(run('pg_dump', ['--format=custom', `--file=${dump}`, original.url])).toBeNull();
  });
  afterAll(async () => {
    await Promise.all(opened.map((db) => db.destroy()));
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  it('uses programs and a server of these versions', async () => {
    const { rows } = await sql<{
      version: string;
    }>`SELECT current_setting('server_version') AS version`.execute(original.db);
    expect(rows[0]?.version.split('.')[0]).toBe(server);
    const { stdout } = spawnSync('pg_restore', ['--version'], { encoding: 'utf8' });
    expect(stdout).toMatch(new RegExp(`\\b${installed}\\.\\d`));
  });

  it.each([[[]], [['--no-owner', '--no-privileges']]])(
    'of a whole dump into an empty database, with %j, and a migration: everything is as before',
    async (options) => {
      const restored = await otherDatabase({ migrated: false });
      expect(run('pg_restore', ['--exit-on-error', ...options, `--dbname=${restored.url}`, dump])).toBeNull();
      if (options.length === 0) expect(await findRightsGaps(restored.db)).toEqual([]);
      expect(await findEnforcementGaps(restored.db)).toEqual([]);
      await migrate(restored.db);
      expect([await findEnforcementGaps(restored.db), await findRightsGaps(restored.db)]).toEqual([[], []]);
      expect(await counts(restored.db)).toEqual(await counts(original.db));
      const { rows } =
        await sql`SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'`.execute(restored.db);
      expect(rows).toEqual([{ tableowner: 'pasteflow_owner' }]);
    },
  );

  it('of the rows alone into a migrated database needs pasteflow.import, and a user who owns the tables', async () => {
    const rows = join(folder, 'rows');
    const tables = [...TABLES, 'state_transitions_*'].map((table) => `--table=${table}`);
    const dumping = ['--format=custom', '--data-only', '--load-via-partition-root', ...tables];
    expect(run('pg_dump', [...dumping, `--file=${rows}`, original.url])).toBeNull();
    const target = await otherDatabase({ migrated: true });
    const restore = (url: string, env?: Record<string, string>) =>
      run('pg_restore', ['--data-only', '--single-transaction', `--dbname=${url}`, rows], env);
    const importing = { PGOPTIONS: '-c pasteflow.import=on' };
    expect(restore(target.url)).toContain('cannot be inserted with');
    expect(restore(urlOfRole(target.url, 'pasteflow_janitor'), importing)).toContain('permission denied');
    expect(await counts(target.db)).not.toEqual(await counts(original.db));
    expect(restore(target.url, importing)).toBeNull();
    expect(await counts(target.db)).toEqual(await counts(original.db));
    expect(await decisions(target.db)).toEqual(await decisions(original.db));
    expect([await findEnforcementGaps(target.db), await findRightsGaps(target.db)]).toEqual([[], []]);
  });
});
