import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestPostgres,
  type SharedTestPostgres,
} from '@pasteflow/dev-stack/testing';
import { lockRow, makePastes, refuseUpdates, type MadePaste } from '@pasteflow/postgres/testing';
import { claimAlone, claimBatch } from '../../src/uploads/claim-uploads.ts';
import { workerOn } from '../support/database.ts';

let stack: SharedTestPostgres;
let worker: ReturnType<typeof workerOn>;

beforeAll(async () => {
  stack = await startSharedTestPostgres();
  worker = workerOn((await createTestDatabase(stack)).url);
});

const releases: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.allSettled(releases.splice(0).map((release) => release())));

afterAll(async () => {
  await worker?.db.destroy();
  await stack?.stop();
});

const waiting = (count: number, losses = 0) =>
  makePastes(worker.db, count, {
    status: 'IN_PROGRESS',
    execution: { status: 'PENDING', dispatchedSecondsAgo: 0, losses },
  });

function claimer() {
  worker.statements.length = 0;
  const own = { worker, events: { dependencyFailed: () => {} } };
  return {
    claim: (pastes: readonly MadePaste[]) =>
      claimBatch(
        own,
        pastes.map(({ shortCode }) => shortCode),
      ).map(async (claimed) => (await claimed).claim.kind),
    claimAlone: async ({ shortCode }: MadePaste) => (await claimAlone(own, shortCode)).claim.kind,
    statements: () => worker.statements.filter(({ text }) => text.includes('asked AS MATERIALIZED')).length,
  };
}

describe('messages that arrive together', () => {
  it('are claimed by one statement, each once, and suspects are left out', async () => {
    const due = await waiting(8);
    const suspects = await waiting(2, 2);
    const { claim, claimAlone: alone, statements } = claimer();
    const kinds = await Promise.all(claim([...suspects, ...due, due[0]!]));
    expect(kinds).toEqual([...suspects.map(() => 'suspect'), ...due.map(() => 'claimed'), 'ended']);
    expect(statements()).toBe(1);
    expect(await alone(suspects[0]!)).toBe('claimed');
    expect(await Promise.all(claim([due[0]!]))).toEqual(['not_now']);
  });

  it('are not delayed by a locked row, which is claimed after its release', async () => {
    const [locked, ...others] = await waiting(10);
    const release = await lockRow(worker.db, 'task_executions', locked!.executionId);
    releases.push(release);
    const [stuck, ...rest] = claimer().claim([locked!, ...others]);
    expect(await Promise.all(rest)).toEqual(others.map(() => 'claimed'));
    await release();
    expect(await stuck).toBe('claimed');
  });

  it("are not touched by one whose row Postgres can't write", async () => {
    const [bad, ...others] = await waiting(10);
    releases.push(await refuseUpdates(worker.db, bad!.executionId, '58030'));
    const [refused, ...rest] = claimer().claim([bad!, ...others]);
    const outcome = refused!.catch((error: unknown) => error);
    expect(await Promise.all(rest)).toEqual(others.map(() => 'claimed'));
    expect(await outcome).toMatchObject({ cause: { code: '58030' } });
  });
});
