import { spawnService } from '@pasteflow/dev-stack/testing';
import { readSweepRuns, withSweepLock } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { Metrics, tracingOff } from '@pasteflow/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { composeSweeps } from '../src/compose.ts';
import { loadJanitorConfig } from '../src/config.ts';
import { SweepRunner } from '../src/sweep-runner/sweep-runner.ts';
import { createCleanup } from '../src/sweeps/cleanup.ts';
import { RefusedRows } from '../src/sweep-runner/refused-rows.ts';
import { sweepNames, type Sweep, type SweepCounts } from '../src/sweep-runner/sweep.ts';
import { RecordingLogger } from './recording-logger.ts';
import { connect, createWorld, eventually, running, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

/** The runner of one janitor, with its own log and metrics. */
function janitor(lockIdleSeconds = 30) {
  const log = new RecordingLogger();
  const metrics = new Metrics('janitor', { process: false });
  return {
    log,
    metrics,
    runner: new SweepRunner({
      locks: world.db,
      db: world.janitorDb,
      janitor: 'janitor/test',
      lockIdleSeconds,
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
async function whileBusy(use: () => Promise<void>, lockIdleSeconds?: number): Promise<SweepCounts | null> {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<SweepCounts>();
  const cleanup = sweepThat(() => {
    begun.resolve();
    return end.promise;
  });
  const run = janitor(lockIdleSeconds).runner.run(cleanup, running());
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

  it('that fails is counted, throws its error, and releases the lock', async () => {
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
    expect(await janitor().runner.run(counting({ claimed: 1 }), running())).toEqual({ claimed: 1 });
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

  it('is skipped while another janitor runs the same sweep, not while it runs a different sweep', async () => {
    const { runner, metrics, log } = janitor();
    const busy = await whileBusy(async () => {
      expect(await runner.run(counting({ claimed: 1 }), running())).toBeNull();
      const relay = sweepThat(() => Promise.resolve({ sent: 1 }), 'relay');
      expect(await runner.run(relay, running())).toEqual({ sent: 1 });
    });
    expect(log.lines[0]?.message).toBe('sweep skipped: another janitor is running it');
    expect(await metrics.text()).toContain(
      'janitor_sweep_runs_total{sweep="cleanup",outcome="skipped",service="janitor"} 1',
    );
    expect(busy).toEqual({ claimed: 5 });
    expect(await runner.run(counting({ claimed: 6 }), running())).toEqual({ claimed: 6 });
  });

  it('keeps its lock longer than the idle time while the janitor is alive', async () => {
    await whileBusy(async () => {
      await new Promise((resolve) => setTimeout(resolve, 2500)); // longer than the idle time
      expect(await janitor().runner.run(counting({}), running())).toBeNull();
    }, 2);
  });

  it('loses its lock when its janitor is frozen, and succeeds when the janitor continues', async () => {
    await makePastes(world.db, 3, { status: 'PROCESSED', expiresInSeconds: -5 });
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const frozen = spawnService({
      entry: MAIN,
      args: ['--once', 'cleanup'],
      env: { ...world.env, SWEEP_LOCK_IDLE_SECONDS: '2' },
    });
    const request = await held;
    const others = connect(world.databaseUrl, 1);
    const tryLock = () => withSweepLock(others, 'cleanup', () => Promise.resolve('mine'));
    try {
      expect(await tryLock()).toBeNull();
      frozen.kill('SIGSTOP');
      await eventually(async () => (await tryLock()) === 'mine');
    } finally {
      frozen.kill('SIGCONT');
      await others.destroy();
    }
    await request.forward();
    expect(await frozen.exited).toEqual({ code: 0, signal: null });
    expect(frozen.stdout).toEqual(['{"claimed":3,"deleted":3,"refused":0,"lost":0}']);
  });

  it('needs only one connection besides its lock: all sweeps run at once on a pool of one', async () => {
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

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;
