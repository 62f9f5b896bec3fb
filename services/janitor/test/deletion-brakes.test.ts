import { createTestDatabase, spawnService, urlOfService } from '@pasteflow/dev-stack/testing';
import { objectKeyOf } from '@pasteflow/domain';
import type { Database } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { Metrics, tracingOff } from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { composeSweeps } from '../src/compose.ts';
import { loadJanitorConfig } from '../src/config.ts';
import { checkBeforeDeleting, ClockError } from '../src/create-sweeps.ts';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { newReconcile } from './new-reconcile.ts';
import { deleteCalls, keysIn, putObjects } from './objects.ts';
import { BUCKET, connect, createWorld, running, type World } from './world.ts';

let world: World;
/** Another migrated database, without a paste. */
let other: { readonly url: string; readonly db: Database };
beforeAll(async () => {
  world = await createWorld();
  const { url } = await createTestDatabase(world.stack);
  other = { url, db: connect(url) };
  await sql`UPDATE installation SET id = gen_random_uuid()`.execute(other.db);
});
afterAll(async () => {
  await other.db.destroy();
  await world.stop();
});
beforeEach(() => world.reset());

const DAY = 86_400;
const reconcile = (options: Parameters<typeof newReconcile>[1] = {}) =>
  newReconcile(world, { orphanGraceSeconds: DAY, ...options }).runOnce(running());
const orphans = (count: number) =>
  Array.from({ length: count }, (_, n) => `orphan${String(n).padStart(4, '0')}`);
/** As if the runs so far had been some time ago. */
const later = (seconds: number) =>
  sql`UPDATE orphan_objects SET first_seen_at = first_seen_at - make_interval(secs => ${seconds}),
    last_seen_at = last_seen_at - make_interval(secs => ${seconds})`.execute(world.db);

async function live(count: number): Promise<string[]> {
  const made = await makePastes(world.db, count, { status: 'PROCESSED' });
  const codes = made.map(({ shortCode }) => shortCode);
  await putObjects(world.store, codes);
  return codes.map(objectKeyOf).toSorted();
}

function janitor(env: Record<string, string> = {}, args: string[] = []) {
  const entry = new URL('../src/main.ts', import.meta.url).pathname;
  return spawnService({ entry, args, env: { ...world.env, RECONCILE_MIN_AGE_SECONDS: '0.001', ...env } });
}

/** The sweeps of a janitor in this process. */
function composedOn(databaseUrl: string) {
  const config = loadJanitorConfig({ ...world.env, DATABASE_URL: urlOfService(databaseUrl, 'janitor') });
  const entry = { name: 'janitor', instance: 'janitor/test', config, logger: world.log, tracing: tracingOff };
  return composeSweeps(entry, new Metrics('janitor', { process: false }));
}

describe('the owner of the bucket', () => {
  it('keeps a janitor on an empty database from starting, and every object in the bucket', async () => {
    const keys = await live(50);
    const { id } = await world.db.selectFrom('installation').select('id').executeTakeFirstOrThrow();
    const wrong = janitor({
      DATABASE_URL: urlOfService(other.url, 'janitor'),
      SWEEP_INTERVALS: 'reconcile=0.1',
    });
    expect((await wrong.exited).code).toBe(78);
    expect(wrong.stderr.join('\n')).toContain(`belongs to the database ${id}`);
    expect(wrong.stderr.join('\n')).toContain('npm run ops -- adopt-bucket');
    expect(deleteCalls(world)).toEqual([]);
    expect(await keysIn(world.store)).toEqual(keys);
  });

  it.each([
    'reconcile',
    'cleanup',
    'erasures',
    'failed-pastes',
    'jobs',
    'tombstones',
    'expired-keys',
  ] as const)(
    'is checked at the start of each run of %s, since the bucket may be exchanged meanwhile',
    async (name) => {
      const { sweeps, close } = composedOn(other.url);
      await expect(sweeps[name].runOnce(running())).rejects.toThrow('belongs to the database');
      await close();
    },
  );

  it('keeps the objects of a bucket that S3_BUCKET names by mistake', async () => {
    const made = await fetch(`${world.stack.aws.endpoint}/wrong-bucket`, { method: 'PUT' });
    expect(made.status).toBe(200);
    const store = createObjectStore({
      ...world.stack.aws,
      bucket: 'wrong-bucket',
      maxAttempts: 1,
      requestTimeoutMs: 7000,
    });
    await putObjects(store, orphans(3));
    const wrong = janitor({ S3_BUCKET: 'wrong-bucket', SWEEP_INTERVALS: 'reconcile=0.1' });
    expect((await wrong.exited).code).toBe(78);
    expect(wrong.stderr.join('\n')).toContain(
      'S3_BUCKET is wrong-bucket, which holds objects and names no owner',
    );
    expect(await keysIn(store)).toHaveLength(3);
    store.close();
  });

  it('changes on purpose with ops adopt-bucket --yes only', async () => {
    await live(2);
    const env = { ...world.env, DATABASE_URL: urlOfService(other.url, 'janitor') };
    const looked = await runOpsCommand(['adopt-bucket'], env);
    expect([looked.code, looked.stderr]).toEqual([1, expect.stringContaining('deletes the 2 objects')]);
    const adopted = await runOpsCommand(['adopt-bucket', '--yes', '--json'], env);
    expect(adopted.code).toBe(0);
    expect(JSON.parse(adopted.stdout)).toMatchObject({
      outcome: 'adopted',
      objects_found: 2,
      objects_known: 0,
    });
    const [adopter, former] = [composedOn(other.url), composedOn(world.databaseUrl)];
    expect(await adopter.sweeps.cleanup.runOnce(running())).toMatchObject({ deleted: 0 });
    await expect(former.sweeps.cleanup.runOnce(running())).rejects.toThrow('belongs to the database');
    await Promise.all([adopter.close(), former.close()]);
    expect((await runOpsCommand(['adopt-bucket', '--yes'], world.env)).code).toBe(0);
  });
});

describe('an object without a row', () => {
  it('is recorded by the first run, and deleted by a run a day later', async () => {
    const keys = await live(2);
    await putObjects(world.store, ['orphan']);
    expect(await reconcile()).toMatchObject({ listed: 3, orphans: 1, removed: 0 });
    await later(DAY - 60);
    expect(await reconcile()).toMatchObject({ orphans: 1, removed: 0 });
    await later(60);
    expect(await reconcile()).toMatchObject({ orphans: 1, removed: 1 });
    expect(await keysIn(world.store)).toEqual(keys);
    expect(await world.db.selectFrom('orphan_objects').selectAll().execute()).toEqual([]);
  });

  it('survives a restored backup, and is no orphan any more when its row is back', async () => {
    const keys = await live(50);
    await sql`CREATE TABLE lost AS SELECT * FROM pastes`.execute(world.db);
    await sql`TRUNCATE pastes CASCADE`.execute(world.db);
    expect(await reconcile()).toMatchObject({ listed: 50, orphans: 50, removed: 0 });
    expect(await reconcile()).toMatchObject({ orphans: 50, removed: 0 });
    await world.db.transaction().execute(async (tx) => {
      await sql`SET LOCAL pasteflow.import = 'on'`.execute(tx);
      await sql`INSERT INTO pastes SELECT * FROM lost`.execute(tx);
    });
    await sql`DROP TABLE lost`.execute(world.db);
    await later(2 * DAY);
    expect(await reconcile()).toMatchObject({ listed: 50, orphans: 0, removed: 0 });
    expect(await keysIn(world.store)).toEqual(keys);
    expect(await world.db.selectFrom('orphan_objects').selectAll().execute()).toEqual([]);
  });

  it('gets a new grace period when it was written again', async () => {
    await putObjects(world.store, ['orphan']);
    await reconcile();
    await later(2 * DAY);
    await sql`UPDATE orphan_objects SET last_modified = last_modified - interval '1 hour'`.execute(world.db);
    expect(await reconcile()).toMatchObject({ orphans: 1, removed: 0 });
  });

  it('is not deleted by a run whose listing broke off', async () => {
    await putObjects(world.store, orphans(3));
    await reconcile();
    await later(2 * DAY);
    world.proxy.rule({ path: /prefix=jobs/ }, { kind: 'fail', status: 503 });
    await expect(reconcile()).rejects.toThrow('s3 does not answer');
    expect(deleteCalls(world)).toEqual([]);
    world.proxy.clear();
    expect(await reconcile()).toMatchObject({ removed: 3 });
  });

  it('is deleted once when two janitors reconcile at the same time', async () => {
    const keys = await live(20);
    await putObjects(world.store, orphans(30));
    expect(await Promise.all([reconcile(), reconcile()])).toMatchObject([{ removed: 0 }, { removed: 0 }]);
    await later(2 * DAY);
    await Promise.all([reconcile(), reconcile()]);
    expect(await keysIn(world.store)).toEqual(keys);
    expect(await reconcile()).toMatchObject({ listed: 20, orphans: 0 });
  });
});

describe('the limit of one run', () => {
  it('holds more than 100 deletions, logs the first keys, and deletes them with --allow-mass-deletion', async () => {
    await putObjects(world.store, orphans(101));
    await reconcile();
    await later(2 * DAY);
    world.log.lines.length = 0;
    expect(await reconcile()).toMatchObject({ listed: 101, orphans: 101, removed: 0, held: 101 });
    expect(deleteCalls(world)).toEqual([]);
    expect(world.log.lines).toMatchObject([
      { level: 'error', message: 'mass deletion held; nothing deleted', fields: { count: 101, listed: 101 } },
    ]);
    expect(world.log.lines[0]?.fields.keys).toHaveLength(100);
    const allowed = janitor({}, ['--once', 'reconcile', '--allow-mass-deletion']);
    expect((await allowed.exited).code).toBe(0);
    expect(JSON.parse(allowed.stdout.join(''))).toMatchObject({ removed: 101, held: 0 });
    expect(await keysIn(world.store)).toEqual([]);
  });

  it('allows 100 deletions', async () => {
    await putObjects(world.store, orphans(100));
    await reconcile();
    await later(2 * DAY);
    expect(await reconcile()).toMatchObject({ removed: 100, held: 0 });
  });
});

describe('the clock', () => {
  const checkAt = (storeTime: Date | null) =>
    checkBeforeDeleting({
      db: world.janitorDb,
      actor: 'janitor/test',
      store: {
        bucket: BUCKET,
        list: (prefix) => world.store.list(prefix),
        writeText: (...args) => world.store.writeText(...args),
        readText: async (key) => ({ ...(await world.store.readText(key)), serverTime: storeTime }),
      },
    });

  it.each([-365 * DAY, -3700, 3700])(
    'stops deletions when the database differs from S3 by %d s',
    async (seconds) => {
      await expect(checkAt(new Date(Date.now() + seconds * 1000))).rejects.toBeInstanceOf(ClockError);
    },
  );

  it('allows deletions when the clocks agree, or when S3 sends no time', async () => {
    await checkAt(new Date(Date.now() + 60_000));
    await checkAt(null);
  });
});

describe('a daily sweep', () => {
  const daily = ['failed-pastes', 'jobs', 'tombstones', 'reconcile'];
  const dailyRuns = async () =>
    (await world.db.selectFrom('sweep_runs').select('sweep').execute())
      .map(({ sweep }) => sweep)
      .filter((sweep) => daily.includes(sweep));

  it('does not run because a janitor starts, but a day after the first migration or its last success', async () => {
    await sql`TRUNCATE sweep_runs`.execute(world.db);
    const first = janitor();
    await first.waitFor(/"sweep done".*"sweep":"expired-keys"/);
    await first.waitFor(/"sweep done".*"sweep":"cleanup"/);
    await first.stop();
    expect(await dailyRuns()).toEqual([]);

    await sql`UPDATE installation SET created_at = created_at - interval '1 day'`.execute(world.db);
    const second = janitor();
    for (const name of daily) await second.waitFor(new RegExp(`"sweep done".*"sweep":"${name}"`));
    await second.stop();
    await sql`UPDATE sweep_runs SET last_success_at = last_success_at - interval '23 hours', janitor = 'before'`.execute(
      world.db,
    );
    const third = janitor();
    await third.waitFor(/"sweep done".*"sweep":"expired-keys"/);
    await third.waitFor(/"sweep done".*"sweep":"cleanup"/);
    await third.stop();
    const { rows } = await sql<{ sweep: string }>`
      SELECT sweep FROM sweep_runs WHERE janitor = 'before' AND sweep = ANY (${daily})`.execute(world.db);
    expect(rows).toHaveLength(4);
  });
});
