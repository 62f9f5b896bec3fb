import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ForgetfulDisk, startCluster, startStack, type Cluster, type Load } from '../src/index.ts';

const PASTES = 100;
const CRASHES = 3;

let disk: ForgetfulDisk;
let cluster: Cluster;
let load: Load<void>;
/** What was answered 201. */
let created: Map<string, Buffer>;

beforeEach(async () => {
  disk = await ForgetfulDisk.mount();
  const stack = await startStack({ postgresIn: disk.folder, fsync: true });
  disk.sync();
  // No permission for settings that lose pastes.
  cluster = await startCluster({ stack, env: { ALLOW_POSTGRES_TO_LOSE_DATA: '' } });
  created = new Map();
  load = cluster.load(create, { pauseMs: 0 });
}, 240_000);
afterEach(async () => {
  await cluster?.stop();
  await disk?.unmount();
});

async function create(n: number): Promise<void> {
  const content = randomBytes(n % 20 === 0 ? 100_000 : 1000);
  const response = await cluster.http().post(content);
  const body = (await response.json()) as { short_code: string };
  if (response.status === 201) created.set(body.short_code, content);
}

/** Rejects when Postgres does not start any more. */
async function losePowerAndRestart(): Promise<void> {
  process.kill(cluster.stack.postgresPid, 'SIGKILL');
  await disk.losePower();
  await cluster.stack.restartPostgres(() => disk.mountAgain());
}

async function createMore(): Promise<void> {
  const before = created.size;
  await cluster.until(() => created.size >= before + PASTES, Boolean, { within: 240_000 });
}

/** The pastes whose rows are gone or have another hash. */
async function findLost(pastes: ReadonlyMap<string, Buffer>): Promise<string[]> {
  const rows = await cluster.rows.query<{ short_code: string; content_hash: string }>(
    'SELECT short_code, content_hash FROM pastes',
  );
  const hashes = new Map(rows.map(({ short_code: code, content_hash: hash }) => [code, hash]));
  const hashOf = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return [...pastes].filter(([code, content]) => hashes.get(code) !== hashOf(content)).map(([code]) => code);
}

it(`no paste that was answered 201 is lost or damaged when the machine of Postgres loses its power`, async () => {
  for (let crash = 0; crash < CRASHES; crash += 1) {
    await createMore();
    await losePowerAndRestart();
  }
  await createMore();
  await load.stop();
  expect(await findLost(created)).toEqual([]);
  await cluster.expectQuiet({ within: 240_000 });
  for (const [code, content] of created)
    expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
}, 900_000);

/** Settings that somebody changes after the services have checked them at their start. */
const unsafe = {
  'fsync = off': ['ALTER SYSTEM SET fsync = off', 'SELECT pg_reload_conf()'],
  'synchronous_commit = off': [
    `ALTER SYSTEM SET wal_writer_delay = '10s'`, // the longest time for which Postgres keeps such commits to itself
    'SELECT pg_reload_conf()',
    ...['api', 'worker', 'janitor'].map(
      (role) => `ALTER ROLE pasteflow_${role} SET synchronous_commit = off`,
    ),
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'pasteflow\\_%'`,
  ],
} as const;

it.each(Object.entries(unsafe))(
  'finds that pastes are lost with %s',
  async (_, statements) => {
    for (const statement of statements) await cluster.rows.query(statement);
    await createMore();
    const answered = new Map(created);
    const starts = await losePowerAndRestart().then(
      () => true,
      () => false,
    );
    await load.stop();
    const lost = starts ? await findLost(answered) : [...answered.keys()];
    expect(lost).not.toEqual([]);
  },
  600_000,
);
