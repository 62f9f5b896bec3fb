import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { lockRow, makePastes, refuseUpdates, type MadePaste } from '@pasteflow/postgres/testing';
import { createUploadClaims, type UploadDelivery } from '../../src/uploads/claim-uploads.ts';
import { workerOn } from '../support/upload-groups.ts';

let stack: TestStack;
let worker: ReturnType<typeof workerOn>;

beforeAll(async () => {
  stack = await startTestStack();
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

const deliveryOf = ({ shortCode }: MadePaste): UploadDelivery => ({
  body: { shortCode },
  context: {},
  receiptHandle: shortCode,
  message: {},
});

function claims() {
  worker.statements.length = 0;
  const events = { dependencyFailed: () => {} };
  const own = createUploadClaims({ worker, events });
  return {
    claim: async (paste: MadePaste) => (await own.claim(deliveryOf(paste))).claim.kind,
    claimAlone: async (paste: MadePaste) => (await own.claimAlone(deliveryOf(paste))).claim.kind,
    statements: () => worker.statements.filter(({ text }) => text.includes('asked AS MATERIALIZED')).length,
  };
}

describe('messages that arrive together', () => {
  it('are claimed by one statement, each once, and suspects are left out', async () => {
    const due = await waiting(20);
    const suspects = await waiting(2, 2);
    const { claim, claimAlone, statements } = claims();
    const kinds = await Promise.all([...suspects, ...due, due[0]!].map(claim));
    expect(kinds).toEqual([...suspects.map(() => 'suspect'), ...due.map(() => 'claimed'), 'ended']);
    expect(statements()).toBe(1);
    expect(await claimAlone(suspects[0]!)).toBe('claimed');
    expect(await claim(due[0]!)).toBe('not_now');
  });

  it('are not delayed by a locked row, which is claimed after its release', async () => {
    const [locked, ...others] = await waiting(20);
    const release = await lockRow(worker.db, 'task_executions', locked!.executionId);
    releases.push(release);
    const { claim } = claims();
    const stuck = claim(locked!);
    expect(await Promise.all(others.map(claim))).toEqual(others.map(() => 'claimed'));
    await release();
    expect(await stuck).toBe('claimed');
  });

  it("are not touched by one whose row Postgres can't write", async () => {
    const [bad, ...others] = await waiting(20);
    releases.push(await refuseUpdates(worker.db, bad!.executionId, '58030'));
    const { claim } = claims();
    const outcome = claim(bad!).catch((error: unknown) => error);
    expect(await Promise.all(others.map(claim))).toEqual(others.map(() => 'claimed'));
    expect(await outcome).toMatchObject({ cause: { code: '58030' } });
  });
});
