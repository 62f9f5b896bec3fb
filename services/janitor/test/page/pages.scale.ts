import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { makeUsers } from '@pasteflow/postgres/testing';
import { createQueryId, CompiledQuery, sql, type KyselyPlugin, type RootOperationNode } from 'kysely';
import { createWorld, type World } from '../world.ts';
import { openPage, type OpenPage } from './open-page.ts';

/** `npm run proof -- scale` takes 1,000,000 rows. */
const large = Number((process.env.SCALE_ROWS ?? '1000000').split(',').at(-1));
/** All bounds of the statements are below. What grows with the table costs ten times as much in the large one. */
const small = large / 10;
const MOST_GROWTH = 3;
/** Rows that wait or have failed, of each state a tenth: they leave the tables within a day. */
const UNSETTLED = 20_000;

/** The overview has most. A statement for each row of a list would be fifty. */
const MOST_STATEMENTS = 14;
/** That of the numbers of the navigation, which all pages share: only the overview is measured with it. */
const NAVIGATION = /WITH newest AS MATERIALIZED/;

/** The owner has half of the pastes and of the jobs. */
let owner: string;
let world: World;
let page: OpenPage;
/** For statements that take minutes. */
let db: Database;
let nodes: RootOperationNode[] = [];
const recording: KyselyPlugin = {
  transformQuery: ({ node }) => {
    nodes.push(node);
    return node;
  },
  transformResult: ({ result }) => Promise.resolve(result),
};

const FILL_LIMIT_MS = 900_000 * Math.max(1, large / 1_000_000);
const measured = new Map<string, number>();
beforeAll(async () => {
  world = await createWorld();
  db = createDatabase({
    url: world.databaseUrl,
    applicationName: 'janitor-test',
    maxConnections: 2,
    connectTimeoutMs: 60_000,
    statementTimeoutMs: 0,
    onConnectionError: () => {},
  });
  owner = world.userId;
  await makeUsers(db, 1000);
  await fill(small, 0);
  for (const path of paths()) measured.set(path, (await look(path)).pages);
  await fill(large, small);
}, FILL_LIMIT_MS);
afterAll(async () => {
  await db?.destroy();
  await world?.stop();
});
afterEach(() => page?.stop());

/** Triggers are off: only the size of the tables matters. */
async function fill(rows: number, filled: number): Promise<void> {
  const numbers = sql`generate_series(${filled + 1}::integer, ${rows}::integer) AS n`;
  const statements = [
    sql`SET session_replication_role = replica`,
    sql`SET pasteflow.import = 'on'`,
    sql`
      WITH paste AS (
        INSERT INTO pastes (user_id, short_code, title, content_hash, size_bytes, status, s3_url, processed_at, failure_reason,
          failed_at, created_at)
        SELECT CASE WHEN n % 2 = 0 THEN ${owner}::uuid END, 'made' || n, 'paste ' || n, 'sha256:' || repeat('0', 64), 1000, state,
          CASE WHEN state = 'PROCESSED' THEN 's3://b/' || n END, CASE WHEN state = 'PROCESSED' THEN at END,
          CASE WHEN state = 'FAILED' THEN 'why' END, CASE WHEN state = 'FAILED' THEN at END, at
        FROM (
          SELECT n, now() - make_interval(secs => (${large}::integer - n) * 0.01) AS at,
            CASE WHEN n > ${UNSETTLED}::integer THEN 'PROCESSED' WHEN n % 10 = 1 THEN 'IN_PROGRESS' WHEN n % 10 = 2 THEN 'FAILED' ELSE 'PROCESSED' END AS state
          FROM ${numbers}
        ) AS made
        RETURNING id, user_id, created_at, status
      ), waiting AS (
        INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
        SELECT id, 'x', user_id, created_at FROM paste WHERE status = 'IN_PROGRESS'
      )
      INSERT INTO failed_payloads SELECT id, 'x' FROM paste WHERE status = 'FAILED'`,
    sql`
      INSERT INTO jobs (user_id, job_type, status, progress, created_at, completed_at)
      SELECT (SELECT id FROM users WHERE id <> ${owner} LIMIT 1), 'export', 'completed', 100, now(), now() FROM ${numbers}
      WHERE n % 2 = 1 UNION ALL SELECT ${owner}, 'import', 'failed', 100, now(), now() FROM ${numbers} WHERE n % 2 = 0`,
    sql`VACUUM (ANALYZE) pastes, paste_payloads, failed_payloads, jobs, users`,
    sql`RESET pasteflow.import`,
    sql`SET session_replication_role = origin`,
  ];
  await db.connection().execute(async (connection) => {
    for (const statement of statements) await statement.execute(connection);
  });
}

/** Each page of the navigation, as it is opened and with a search that finds nothing, and what the owner has. */
function paths(): readonly string[] {
  return [
    '/',
    '/users',
    '/users?name=nobody',
    `/users/${owner}`,
    '/pastes',
    '/pastes?title=nothing',
    '/pastes?state=in_progress',
    '/pastes?state=failed&title=nothing',
    '/pastes?state=deleted',
    `/pastes?owner=${owner}&title=nothing`,
    '/pastes/made10',
    '/jobs',
    '/jobs?type=nothing',
    '/jobs?state=queued',
    `/jobs?owner=${owner}&type=nothing`,
    '/workers',
    '/erasures',
    '/reports',
    '/failed',
    '/find?q=made10',
  ];
}

/** Where an operator confirms an action, it has counted exactly what it means. */
const exact = (): readonly string[] => [
  `/confirm/takedown-user?subject=${owner}`,
  `/confirm/erase?subject=${owner}`,
  '/confirm/retry-failed',
];

/** Opens a page of a janitor that has just started, so that it has read no numbers yet. @returns what its statements read */
async function look(path: string) {
  page = await openPage(world, {}, (watched) => watched.withPlugin(recording));
  nodes = [];
  const began = performance.now();
  const { status } = await page.call(path);
  const ms = Math.round(performance.now() - began);
  const asked = nodes.map((node) => db.getExecutor().compileQuery(node, createQueryId()));
  let pages = 0;
  for (const query of asked) if (path === '/' || !NAVIGATION.test(query.sql)) pages += await pagesOf(query);
  await page.stop();
  return { status, ms, statements: asked.length, pages };
}

/** Of memory or disk. */
async function pagesOf(query: CompiledQuery): Promise<number> {
  if (query.sql.trimStart().startsWith('EXPLAIN')) return 0; // an estimate of the planner
  const { rows } = await db.executeQuery<{ readonly 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
    CompiledQuery.raw(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${query.sql}`, [...query.parameters]),
  );
  const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

it(
  'reads as much for each page from a large table as from a small one',
  async () => {
    const faults = [];
    for (const path of [...paths(), ...exact()]) {
      await look(path); // loads what it reads
      const { status, ms, statements, pages } = await look(path);
      const before = measured.get(path) ?? Infinity;
      const shown = path.replace(owner, 'ID');
      process.stderr.write(
        `${shown}: ${ms} ms, ${statements} statements, ${before === Infinity ? '?' : before} pages of ${small} rows, ${pages} of ${large}\n`,
      );
      if (status >= 400 || statements > MOST_STATEMENTS || pages > before * MOST_GROWTH + 1000)
        faults.push(shown);
    }
    expect(faults).toEqual([]);
  },
  FILL_LIMIT_MS,
);
