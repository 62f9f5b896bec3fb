import { spawnService } from '@pasteflow/dev-stack/testing';
import { readSweepRuns } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { Metrics, tracingOff } from '@pasteflow/runtime';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { composeSweeps } from '../src/compose.ts';
import { loadJanitorConfig } from '../src/config.ts';
import { SweepRunner } from '../src/sweeps/running/sweep-runner.ts';
import { createCleanup } from '../src/sweeps/cleanup.ts';
import { RefusedRows } from '../src/sweeps/running/refused-rows.ts';
import { sweepNames } from '../src/sweep-names.ts';
import type { Sweep, SweepCounts } from '../src/sweeps/running/sweep.ts';
import { RecordingLogger } from './recording-logger.ts';
import { useWorld, deletionStates, eventually, running } from './world.ts';

const world = useWorld();

/** The runner of one janitor, with its own log and metrics. */
function janitor() {
  const log = new RecordingLogger();
  const metrics = new Metrics('janitor', { process: false });
  return {
    log,
    metrics,
    runner: new SweepRunner({
      db: world.janitorDb,
      actor: 'janitor/test',
      logger: log,
      metrics,
    }),
  };
}

const sweepThat = (runOnce: () => Promise<SweepCounts>, name: Sweep['name'] = 'cleanup'): Sweep => ({
  name,
  refused: new RefusedRows(),
  runOnce,
});
/** Calls `use` in the middle of a cleanup. @returns the outcome of the cleanup */
async function whileBusy(runner: SweepRunner, use: () => Promise<void>): Promise<SweepCounts | null> {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<SweepCounts>();
  const cleanup = sweepThat(() => {
    begun.resolve();
    return end.promise;
  });
  const run = runner.run(cleanup, running());
  await begun.promise;
  await use().finally(() => end.resolve({ claimed: 5 }));
  return run;
}

const counting = (counts: SweepCounts) => sweepThat(() => Promise.resolve(counts));

describe('a run of a sweep', () => {
  it('adds its counts to the log and to the metrics', async () => {
    const { runner, log, metrics } = janitor();
    expect(await runner.run(counting({ claimed: 3, refused: 0 }), running())).toEqual({
      claimed: 3,
      refused: 0,
    });
    expect(log.lines).toMatchObject([
      { level: 'info', message: 'sweep done', fields: { sweep: 'cleanup', claimed: 3, refused: 0 } },
    ]);
    const text = await metrics.text();
    expect(text).toContain('janitor_sweep_runs_total{sweep="cleanup",outcome="done",service="janitor"} 1');
    expect(text).toContain('janitor_sweep_rows_total{sweep="cleanup",count="claimed",service="janitor"} 3');
    expect(text).toMatch(
      /janitor_sweep_last_success_timestamp_seconds\{sweep="cleanup",service="janitor"\} 1\d{9}/,
    );
    expect(text).toMatch(/janitor_sweep_seconds_count\{.*sweep="cleanup".*\} 1/);
  });

  it('is recorded for every janitor, with the last success of any of them', async () => {
    const { runner } = janitor();
    await runner.run(counting({ claimed: 3 }), running());
    const [done] = await readSweepRuns(world.db);
    expect(done).toMatchObject({
      sweep: 'cleanup',
      outcome: 'done',
      counts: { claimed: 3 },
      janitor: 'janitor/test',
    });
    expect(done?.last_success_at).toEqual(done?.ended_at);
    await runner
      .run(
        sweepThat(() => Promise.reject(new Error('no'))),
        running(),
      )
      .catch(() => {});
    const [failed] = await readSweepRuns(world.db);
    expect(failed).toMatchObject({ outcome: 'failed', counts: {}, last_success_at: done?.ended_at });
    expect(failed!.ended_at.getTime()).toBeGreaterThan(done!.ended_at.getTime());

    const other = janitor();
    other.runner.learn(await readSweepRuns(world.db));
    expect(await other.metrics.text()).toContain(
      `janitor_sweep_last_success_timestamp_seconds{sweep="cleanup",service="janitor"} ${done!.ended_at.getTime() / 1000}`,
    );
    await other.runner.run(counting({}), running());
    const own = await other.metrics.text();
    other.runner.learn([done!]); // older than its own last success
    expect(await other.metrics.text()).toBe(own);
  });

  it('that found nothing is logged at debug level', async () => {
    const { runner, log } = janitor();
    await runner.run(counting({ sent: 0 }), running());
    expect(log.lines.map(({ level }) => level)).toEqual(['debug']);
  });

  it('that fails is counted, throws its error, and may run again', async () => {
    const { runner, metrics } = janitor();
    await expect(
      runner.run(
        sweepThat(() => Promise.reject(new Error('no'))),
        running(),
      ),
    ).rejects.toThrow('no');
    expect(await metrics.text()).toContain(
      'janitor_sweep_runs_total{sweep="cleanup",outcome="failed",service="janitor"} 1',
    );
    expect(await runner.run(counting({ claimed: 1 }), running())).toEqual({ claimed: 1 });
  });

  it('that fails halfway adds its counts up to the failure to the metrics', async () => {
    await makePastes(world.db, 1500, { status: 'PROCESSED', expiresInSeconds: -5 });
    world.proxy.rule({ method: 'POST', path: /\?delete/ }, { kind: 'fail', status: 500 });
    world.proxy.rule({ method: 'POST', path: /\?delete/ }, { kind: 'pass' }, 1);
    const { runner, metrics } = janitor();
    const cleanup = createCleanup({
      db: world.janitorDb,
      store: world.store,
      actor: 'janitor/test',
      logger: world.log,
    });
    await expect(runner.run(cleanup, running())).rejects.toMatchObject({ code: 'dependency_unavailable' });
    expect(await metrics.text()).toContain(
      'janitor_sweep_rows_total{sweep="cleanup",count="deleted",service="janitor"} 1000',
    );
    const [run] = await readSweepRuns(world.db);
    expect(run).toMatchObject({ outcome: 'failed', counts: { deleted: 1000, claimed: 1000 } });
  });

  it('is skipped while its process runs the same sweep, not while it runs a different sweep', async () => {
    const { runner, metrics } = janitor();
    const busy = await whileBusy(runner, async () => {
      expect(await runner.run(counting({ claimed: 1 }), running())).toBeNull();
      const relay = sweepThat(() => Promise.resolve({ sent: 1 }), 'relay');
      expect(await runner.run(relay, running())).toEqual({ sent: 1 });
    });
    expect(await metrics.text()).toContain(
      'janitor_sweep_runs_total{sweep="cleanup",outcome="skipped",service="janitor"} 1',
    );
    expect(busy).toEqual({ claimed: 5 });
    expect(await runner.run(counting({ claimed: 6 }), running())).toEqual({ claimed: 6 });
  });

  it('needs only one connection: all sweeps run at once on a pool of one', async () => {
    const config = loadJanitorConfig({ ...world.env, DATABASE_POOL_SIZE: '1' });
    const entry = {
      name: 'janitor',
      instance: 'janitor/test',
      config,
      logger: world.log,
      tracing: tracingOff,
    };
    const { sweeps, runner, close } = composeSweeps(entry, new Metrics('janitor', { process: false }));
    const all = Object.values(sweeps);
    expect(all.map(({ name }) => name)).toEqual(sweepNames);
    const counts = await Promise.all(all.map((sweep) => runner.run(sweep, running())));
    await close();
    expect(counts.every((each) => each !== null)).toBe(true);
  });
});

describe('the janitor that leads', () => {
  const startJanitor = () =>
    spawnService({
      entry: MAIN,
      env: { ...world.env, SWEEP_INTERVALS: 'relay=0.2' },
    });
  const who = async () =>
    (await readSweepRuns(world.db)).find(({ sweep }) => sweep === 'relay')?.janitor ?? null;
  const leads = ({ stdout, stderr }: ReturnType<typeof startJanitor>) =>
    [...stdout, ...stderr]
      .filter((line) => line.includes('the sweeps'))
      .at(-1)
      ?.includes('this janitor runs the sweeps') === true;

  it('runs all sweeps alone, also one that takes long; when it freezes, another one does', async () => {
    await sql`TRUNCATE sweep_runs`.execute(world.db);
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    await makePastes(world.db, 3, { status: 'PROCESSED', expiresInSeconds: -5 });
    const janitors = [startJanitor(), startJanitor()];
    try {
      const request = await held; // one sweep takes long
      const leader = janitors.find(leads)!;
      const other = janitors.find((each) => each !== leader)!;
      expect(leads(other)).toBe(false);
      const first = await who();
      await sql`TRUNCATE sweep_runs`.execute(world.db);
      await eventually(async () => (await who()) === first); // the others go on
      leader.kill('SIGSTOP');
      await eventually(async () => ![null, first].includes(await who()));
      expect(leads(other)).toBe(true);
      leader.kill('SIGCONT');
      await request.forward();
      await eventually(() => !leads(leader));
      await eventually(async () => (await deletionStates(world)).DELETED === 3);
      other.kill('SIGTERM');
      await eventually(async () => (await who()) === first);
    } finally {
      for (const each of janitors) each.kill('SIGKILL');
      await Promise.all(janitors.map(({ exited }) => exited));
    }
  });
});

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;
