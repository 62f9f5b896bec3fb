import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { settleExecutions, uploadSubject, type Database, type UploadSettlement } from '@pasteflow/postgres';
import { breakWaitingConnections, lockRow, refuseUpdates } from '@pasteflow/postgres/testing';
import { createSettleUpload } from '../../src/uploads/settle-uploads.ts';
import { openDatabase } from '../support/database.ts';
import { claimed, workerOn } from '../support/upload-groups.ts';

let stack: TestStack;
let worker: ReturnType<typeof workerOn>;
let other: Database;

beforeAll(async () => {
  stack = await startTestStack();
  const { url } = await createTestDatabase(stack);
  worker = workerOn(url);
  other = openDatabase(url);
});

/** Open transactions of a failed test would block the end of the file. */
const releases: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.allSettled(releases.splice(0).map((release) => release())));

afterAll(async () => {
  await Promise.all([worker?.db.destroy(), other?.destroy()]);
  await stack?.stop();
});

const stored = (executionId: string): UploadSettlement => ({
  executionId,
  outcome: { kind: 'succeeded', s3Url: `s3://pasteflow/${executionId}` },
  nextStep: { kind: 'done' },
});

/**
 * Settlements that arrive together: their group closes when the last one has arrived.
 * @param lingerLater whether those that are tried again in a group linger for a minute
 */
function settleTogether(executionIds: readonly string[], { lingerLater = false } = {}) {
  const errors: unknown[] = [];
  let left = executionIds.length;
  const settle = createSettleUpload({
    worker,
    events: { dependencyFailed: (_what, error) => void errors.push(error) },
    lingerMs: 60_000,
    isIdle: () => left === 0 && !(lingerLater && sizes().length > 0),
  });
  worker.statements.length = 0;
  /** How many settlements each statement had so far. */
  const sizes = () =>
    worker.statements
      .filter(({ text }) => text.includes('ending AS MATERIALIZED'))
      .map(({ parameters }) => parameters.find((each) => Array.isArray(each))?.length as number);
  const settled = executionIds.map((id) => {
    left -= 1;
    return settle(stored(id));
  });
  return { settled, errors, sizes };
}

const codes = (name: string) => Array.from({ length: 25 }, (_, n) => `${name}${n}`);

const stateOf = async (executionId: string) =>
  (
    await worker.db
      .selectFrom('task_executions')
      .select('status')
      .where('id', '=', executionId)
      .executeTakeFirstOrThrow()
  ).status;

describe('uploads that end together', () => {
  it('are settled by one statement, and each learns whether its own settlement counted', async () => {
    const [lost = '', ...others] = await claimed(worker, codes('own'));
    await settleExecutions(worker.db, uploadSubject, [stored(lost)], { actor: 'other', dispatched: true });
    const { settled, sizes } = settleTogether([lost, ...others]);
    const [first, ...rest] = await Promise.all(settled);
    expect(first).toBeNull();
    expect(rest.map((each) => each?.executionId)).toEqual(others);
    expect(sizes()).toEqual([25]);
  });

  it.each(['task_executions', 'pastes'] as const)(
    'are not delayed by a locked row of %s, which alone waits for its release, and no later group waits for it',
    async (table) => {
      const [stuck = '', ...others] = await claimed(worker, codes(`${table[0]}lock`));
      const { subject_id: pasteId } = await worker.db
        .selectFrom('task_executions')
        .select('subject_id')
        .where('id', '=', stuck)
        .executeTakeFirstOrThrow();
      const release = await lockRow(other, table, table === 'pastes' ? pasteId : stuck);
      releases.push(release);
      const { settled, errors } = settleTogether([stuck, ...others], { lingerLater: true });
      const [waiting, ...rest] = settled;
      expect((await Promise.all(rest)).map((each) => each?.status)).toEqual(others.map(() => 'PROCESSED'));
      expect(await stateOf(stuck)).toBe('RUNNING');
      // The group, and the locked row alone, again and again.
      while (errors.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      const later = settleTogether(await claimed(worker, codes(`${table[0]}late`)));
      await Promise.all(later.settled);
      expect(later.errors).toEqual([]);
      await release();
      expect(await waiting).toMatchObject({ executionId: stuck, status: 'PROCESSED' });
    },
  );

  it.each([
    ['refuses', '23514'],
    ["can't write", '58030'],
  ])('are not touched by one that Postgres %s', async (_name, sqlstate) => {
    const [bad = '', ...others] = await claimed(worker, codes(`bad${sqlstate}`));
    const allow = await refuseUpdates(other, bad, sqlstate);
    releases.push(allow);
    const { settled, sizes } = settleTogether([bad, ...others], { lingerLater: true });
    const [refused, ...rest] = settled;
    expect((await Promise.all(rest)).map((each) => each?.status)).toEqual(others.map(() => 'PROCESSED'));
    expect(await stateOf(bad)).toBe('RUNNING');
    expect(sizes().slice(0, 26)).toEqual([25, ...[bad, ...others].map(() => 1)]);
    await allow();
    expect(await refused).toMatchObject({ executionId: bad, status: 'PROCESSED' });
  });

  it('are settled anew when their connections break, for as long as their leases last', async () => {
    const ids = await claimed(worker, codes('away'));
    const release = await lockRow(other, 'task_executions', ids[0]!);
    releases.push(release);
    const { settled, errors } = settleTogether(ids);
    while ((await breakWaitingConnections(other, 'worker-under-test')) === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    while (errors.length < 1) await new Promise((resolve) => setTimeout(resolve, 20));
    await release();
    const states = (await Promise.all(settled)).map((each) => each?.status);
    expect(states).toEqual(ids.map(() => 'PROCESSED'));
  });
});
