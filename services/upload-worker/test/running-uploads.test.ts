import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import {
  claimUploads,
  createDatabase,
  createPaste,
  migrate,
  settleUploads,
  type Database,
} from '@pasteflow/postgres';
import type { VisibilityChange } from '@pasteflow/sqs';
import { RunningUploads } from '../src/running-uploads.ts';

let stack: TestStack;
let db: Database;

beforeAll(async () => {
  stack = await startTestStack();
  const { url } = await createTestDatabase(stack, async (template) => {
    const handle = open(template);
    await migrate(handle);
    await handle.destroy();
  });
  db = open(url);
});

afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

function open(url: string): Database {
  return createDatabase({ url, applicationName: 'test', maxConnections: 2, onConnectionError: () => {} });
}

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
  const running = new RunningUploads({
    db,
    leaseSeconds: 6,
    visibilitySeconds: 10,
    changeVisibility: (asked) => Promise.resolve(void changes.push(...asked)),
    onLost: (executionId) => lost.push(executionId),
    now: () => clock.now,
  });
  return { running, lost, changes, clock };
}

/** An upload that goes on until it is dropped, and says so. */
const untilDropped = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('dropped')));

describe('the heartbeat', () => {
  it('keeps the messages hidden that are held', async () => {
    const { running, changes } = setUp();
    running.hold('held');
    running.hold('given back');
    running.release('given back');
    await running.keepHidden();
    expect(changes).toEqual([{ receiptHandle: 'held', seconds: 10 }]);
  });

  it('renews the leases of what runs', async () => {
    const { running, lost } = setUp();
    const executionId = await claimNew();
    void running.run(executionId, 0, untilDropped);
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
    running.abortAll();
  });

  it('drops what was taken from this worker', async () => {
    const { running, lost } = setUp();
    const executionId = await claimNew();
    const work = running.run(executionId, 0, untilDropped);
    const outcome = { kind: 'lost', error: 'worker lost' } as const;
    const sequel = { kind: 'retry', attempt: 2, delayMs: 0 } as const;
    await settleUploads(db, [{ executionId, outcome, sequel, s3Url: null }], {
      actor: 'reaper',
      dispatched: false,
    });
    await running.renewLeases();
    expect(await work).toBe('dropped');
    expect(lost).toEqual([executionId]);
  });

  it('drops what may have been taken, once the lease is over and Postgres can not be asked', async () => {
    const { running, lost, clock } = setUp();
    const executionId = await claimNew();
    const work = running.run(executionId, 0, untilDropped);
    await stack.restartPostgres(async () => {
      clock.now = 5999;
      await expect(running.renewLeases()).rejects.toMatchObject({ code: 'dependency_unavailable' });
      expect(lost).toEqual([]);
      clock.now = 6000;
      await expect(running.renewLeases()).rejects.toMatchObject({ code: 'dependency_unavailable' });
    });
    expect(await work).toBe('dropped');
    expect(lost).toEqual([executionId]);
  });
});
