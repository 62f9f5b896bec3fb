import { spawnService, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { makePastes } from '@pasteflow/postgres/testing';
import { tracingOff } from '@pasteflow/runtime';
import { describe, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import { parseJanitorCommand, runOnce } from '../src/command-line.ts';
import { loadJanitorConfig } from '../src/config.ts';
import { createCleanup, createDeletionWatchdog } from '../src/sweeps/cleanup.ts';
import { sweepNames, type SweepName } from '../src/sweep-names.ts';
import { newReconcile } from './new-reconcile.ts';
import { keysIn, putObjects } from './objects.ts';
import { useWorld, running, deletionStates } from './world.ts';

const world = useWorld();

const start = (args: string[]) =>
  spawnService({
    entry: new URL('../src/main.ts', import.meta.url).pathname,
    args,
    env: world.env,
  });

async function ends(janitor: SpawnedProcess) {
  const { code } = await janitor.exited;
  return { code, stdout: janitor.stdout, stderr: janitor.stderr };
}

const once = (name: string) => ends(start(['--once', name]));
const expired = (count: number) => makePastes(world.db, count, { status: 'PROCESSED', expiresInSeconds: -5 });

/** What the command writes to stdout when it runs in this process. */
async function printedBy(args: string[]): Promise<string[]> {
  const command = parseJanitorCommand(args);
  if (command.kind !== 'once') throw new Error(`${args.join(' ')} runs no sweep`);
  const config = loadJanitorConfig(world.env);
  const entry = { name: 'janitor', instance: 'janitor/test', config, logger: world.log, tracing: tracingOff };
  const printed: string[] = [];
  const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  try {
    await runOnce(entry, command);
    return printed;
  } finally {
    stdout.mockRestore();
    for (const signal of ['SIGTERM', 'SIGINT']) process.removeAllListeners(signal); // those of the command
  }
}

const recordedActions = () =>
  world.db
    .selectFrom('operator_actions')
    .select(['actor', 'action', 'subject', 'reason', 'outcome'])
    .orderBy('id')
    .execute();

const countsOf: Record<SweepName, readonly string[]> = {
  relay: ['sent', 'resent', 'postponed'],
  'reap-executions': ['lost', 'rescued', 'given_up', 'dispatched', 'outrun'],
  'rescue-stranded': ['rescued', 'given_up', 'outrun', 'reset'],
  cleanup: ['claimed', 'deleted', 'refused', 'lost'],
  'deletion-watchdog': ['reset'],
  'failed-pastes': ['removed', 'refused'],
  'dead-letters': ['unreadable', 'alive', 'ended', 'failed', 'given_up', 'left_to_relay'],
  jobs: ['removed', 'refused', 'objects', 'aborted'],
  tombstones: [
    'removed',
    'reports',
    'requests',
    'invitations',
    'deliveries',
    'partitions_made',
    'partitions_dropped',
  ],
  reconcile: ['listed', 'orphans', 'removed', 'refused', 'held', 'foreign', 'missing', 'aborted'],
  erasures: [
    'pastes',
    'cancelled',
    'removed',
    'refused',
    'objects',
    'aborted',
    'done',
    'deliveries',
    'endpoints',
  ],
  'expired-keys': ['keys', 'counters'],
  measure: ['counted'],
};

describe('janitor --once', () => {
  it.each(sweepNames)('runs %s and prints only its counts, as JSON, on stdout', async (name) => {
    const printed = await printedBy(['--once', name]);
    expect(printed).toHaveLength(1);
    const counts = JSON.parse(printed[0] ?? '') as Record<string, number>;
    expect(counts).toEqual(Object.fromEntries(countsOf[name].map((count) => [count, 0])));
    expect(await recordedActions()).toMatchObject([{ action: 'run-sweep', subject: name }]);
  });

  it('records the run among the actions of operators, with the reason', async () => {
    await expired(2);
    expect((await ends(start(['--once', 'cleanup', '--reason', 'report 4711']))).code).toBe(0);
    await printedBy(['--once', 'reconcile', '--allow-mass-deletion']);
    const actor = expect.stringMatching(/^ops\/\S+@\S+$/);
    const by = { actor, action: 'run-sweep' };
    expect(await recordedActions()).toEqual([
      {
        ...by,
        subject: 'cleanup',
        reason: 'report 4711',
        outcome: 'Done: claimed 2, deleted 2, refused 0, lost 0.',
      },
      {
        ...by,
        subject: 'reconcile --allow-mass-deletion',
        reason: 'no reason given',
        outcome: expect.stringMatching(/^Done: listed \d+, orphans 0, /),
      },
    ]);
  });

  it('does not run a sweep that cannot be recorded', async () => {
    await expired(1);
    await sql`ALTER TABLE operator_actions RENAME TO away`.execute(world.db);
    try {
      expect(await once('cleanup')).toMatchObject({ code: 1, stdout: [] });
    } finally {
      await sql`ALTER TABLE away RENAME TO operator_actions`.execute(world.db);
    }
    expect(await deletionStates(world)).toEqual({ NOT_EXPIRED: 1 });
  });

  it('runs the sweep and warns when only the outcome cannot be recorded', async () => {
    await sql`ALTER TABLE operator_actions ADD CHECK (outcome IS NULL) NOT VALID`.execute(world.db);
    try {
      expect(await printedBy(['--once', 'deletion-watchdog'])).toEqual(['{"reset":0}\n']);
      expect(world.log.lines).toContainEqual(
        expect.objectContaining({ level: 'warn', message: 'outcome of an action not recorded' }),
      );
    } finally {
      await sql`ALTER TABLE operator_actions DROP CONSTRAINT operator_actions_outcome_check`.execute(
        world.db,
      );
    }
  });

  it('names every sweep when the given name is not a sweep', async () => {
    const { code, stdout, stderr } = await once('clean');
    expect([code, stdout, stderr.length]).toEqual([64, [], 1]);
    for (const name of sweepNames) expect(stderr[0]).toContain(name);
  });

  it('exits with 1 and an error when the sweep fails', async () => {
    await expired(1);
    world.proxy.rule({}, { kind: 'fail', status: 503 });
    const { code, stdout, stderr } = await once('cleanup');
    expect([code, stdout]).toEqual([1, []]);
    expect(stderr.join('\n')).toContain('s3 does not answer');
    expect(await recordedActions()).toMatchObject([
      { subject: 'cleanup', outcome: expect.stringMatching(/^Failed: .*s3 does not answer/) },
    ]);
  });

  it('finishes its batch on SIGTERM, and leaves no paste claimed', async () => {
    await expired(1500);
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const janitor = start(['--once', 'cleanup']);
    const request = await held;
    janitor.kill('SIGTERM');
    await request.forward();
    expect(await ends(janitor)).toMatchObject({
      code: 0,
      stdout: ['{"claimed":1000,"deleted":1000,"refused":0,"lost":0}'],
    });
    expect(await deletionStates(world)).toEqual({ DELETED: 1000, NOT_EXPIRED: 500 });
    expect(await recordedActions()).toMatchObject([
      { outcome: 'Stopped early: claimed 1000, deleted 1000, refused 0, lost 0.' },
    ]);
  });

  it.each(['before', 'after'])(
    'repeats a deletion whose janitor was killed %s S3 received the call',
    async (when) => {
      const pastes = await expired(3);
      await putObjects(
        world.store,
        pastes.map(({ shortCode }) => shortCode),
      );
      const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
      const janitor = start(['--once', 'cleanup']);
      const request = await held;
      const response = when === 'after' ? await request.forwardAndHoldResponse() : request;
      janitor.kill('SIGKILL');
      await janitor.exited;
      response.drop();
      expect(await deletionStates(world)).toEqual({ DELETION_IN_PROGRESS: 3 });
      const watchdog = createDeletionWatchdog({
        db: world.janitorDb,
        actor: 'janitor/test',
        deletionStuckAfterSeconds: 7200,
      });
      expect(await watchdog.runOnce(running())).toEqual({ reset: 0 });
      await sql`UPDATE pastes SET deletion_initiated_at = deletion_initiated_at - interval '2 hours'`.execute(
        world.db,
      );
      expect(await watchdog.runOnce(running())).toEqual({ reset: 3 });
      const reconcile = newReconcile(world, { reconcileMinAgeSeconds: 1 });
      expect(await reconcile.runOnce(running())).toMatchObject({ removed: 0, missing: 0 });
      const cleanup = createCleanup({
        ...world,
        db: world.janitorDb,
        actor: 'janitor/test',
        logger: world.log,
      });
      expect(await cleanup.runOnce(running())).toMatchObject({ deleted: 3 });
      expect([await deletionStates(world), await keysIn(world.store)]).toEqual([{ DELETED: 3 }, []]);
    },
  );
});
