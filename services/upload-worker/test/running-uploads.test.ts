import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { claimUploads, createPaste, settleUploads, type Database } from '@pasteflow/postgres';
import type { VisibilityChange } from '@pasteflow/sqs';
import { RunningUploads } from '../src/running-uploads.ts';
import { migratedDatabase, openDatabase } from './support/database.ts';

let stack: TestStack;
let db: Database;

beforeAll(async () => {
  stack = await startTestStack();
  db = openDatabase(await migratedDatabase(stack));
});

afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

let pastes = 0;

async function claimNew(): Promise<string> {
  const shortCode = `code${(pastes += 1)}`;
  await createPaste(db, {
    shortCode,
    content: Buffer.from('x'),
    contentHash: `sha256:${'0'.repeat(64)}`,
    title: null,
    syntax: null,
    expiresInSeconds: null,
    deleteTokenHash: null,
  });
  const claim = (await claimUploads(db, { shortCodes: [shortCode], actor: 'w', leaseSeconds: 6 })).get(
    shortCode,
  );
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  return claim.upload.executionId;
}

function setUp() {
  const lost: string[] = [];
  const changes: VisibilityChange[] = [];
  const clock = { now: 0 };
  let gate: PromiseWithResolvers<void> | undefined;
  const running = new RunningUploads({
    db,
    leaseSeconds: 6,
    visibilitySeconds: 10,
    changeVisibility: async (asked) => {
      changes.push(...asked);
      await gate?.promise;
    },
    onLost: (executionId) => lost.push(executionId),
    now: () => clock.now,
  });
  /** The next requests hang until it is resolved. */
  const hiding = () => (gate = Promise.withResolvers<void>());
  return { running, lost, changes, clock, hiding };
}

describe('the heartbeat', () => {
  it('keeps the messages hidden that are held', async () => {
    const { running, changes } = setUp();
    running.hold('held');
    running.hold('given back');
    await running.release('given back');
    await running.keepHidden();
    expect(changes).toEqual([{ receiptHandle: 'held', seconds: 10 }]);
  });

  it('never hides a message again that was given back while its requests were under way', async () => {
    const { running, changes, hiding } = setUp();
    for (let n = 0; n < 12; n++) running.hold(`message ${n}`);
    const first = hiding();
    const beat = running.keepHidden();
    let released = false;
    const releasing = Promise.all([running.release('message 3'), running.release('message 11')]).then(() => {
      released = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(released).toBe(false); // the request that hides message 3 is under way
    first.resolve();
    await Promise.all([beat, releasing]);
    expect(changes.map(({ receiptHandle }) => receiptHandle)).not.toContain('message 11');
    expect(changes).toHaveLength(11);
  });

  it('renews no more what has ended', async () => {
    const { running, lost } = setUp();
    const executionId = await claimNew();
    running.begin(executionId, 0);
    running.end(executionId);
    await running.renewLeases();
    expect(lost).toEqual([]);
  });

  it('renews the leases of what runs', async () => {
    const { running, lost } = setUp();
    const executionId = await claimNew();
    running.begin(executionId, 0);
    const leaseOf = async () =>
      (
        await db
          .selectFrom('task_executions')
          .select('lease_expires_at')
          .where('id', '=', executionId)
          .executeTakeFirst()
      )?.lease_expires_at as Date;
    const before = await leaseOf();
    await running.renewLeases();
    expect((await leaseOf()).getTime()).toBeGreaterThan(before.getTime());
    expect(lost).toEqual([]);
  });

  it('drops what was taken from this worker', async () => {
    const { running, lost } = setUp();
    const executionId = await claimNew();
    const signal = running.begin(executionId, 0);
    const outcome = { kind: 'lost', error: 'worker lost' } as const;
    const sequel = { kind: 'retry', attempt: 2, delayMs: 0 } as const;
    await settleUploads(db, [{ executionId, outcome, sequel }], {
      actor: 'reaper',
      dispatched: false,
    });
    await running.renewLeases();
    expect(signal.aborted).toBe(true);
    expect(lost).toEqual([executionId]);
  });

  it('drops what may have been taken, once the lease is over and Postgres can not be asked', async () => {
    const { running, lost, clock } = setUp();
    const executionId = await claimNew();
    const signal = running.begin(executionId, 0);
    await stack.restartPostgres(async () => {
      clock.now = 5999;
      await expect(running.renewLeases()).rejects.toMatchObject({ code: 'dependency_unavailable' });
      expect(lost).toEqual([]);
      clock.now = 6000;
      await expect(running.renewLeases()).rejects.toMatchObject({ code: 'dependency_unavailable' });
    });
    expect(signal.aborted).toBe(true);
    expect(lost).toEqual([executionId]);
  });
});
