import { describe, expect, it } from '@jest/globals';
import { defaultRetryPolicy, decideNextStep } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  findPaste,
  findZombies,
  readPayload,
  readTimeline,
  renewLeases,
  settleExecutions,
  stampDispatched,
  uploadSubject,
  type ClaimedUpload,
  type UploadOutcome,
} from '../../src/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

async function claimOne(shortCode: string, actor = 'w1', leaseSeconds = 600): Promise<ClaimedUpload> {
  const claims = await claimExecutions(current.db, uploadSubject, { keys: [shortCode], actor, leaseSeconds });
  const claim = claims.get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(claim)}`);
  return claim.execution;
}

function settlement(upload: ClaimedUpload, outcome: UploadOutcome) {
  const { executionId } = upload;
  return { executionId, outcome, nextStep: decideNextStep(outcome, upload, defaultRetryPolicy, 0.5) };
}

const makeDue = () =>
  sql`UPDATE task_executions SET run_at = now() WHERE status = 'PENDING'`.execute(current.db);
const byW1 = { actor: 'w1', dispatched: true };
const succeeded: UploadOutcome = { kind: 'succeeded', s3Url: 's3://bucket/key' };
const failed: UploadOutcome = { kind: 'failed', error: 'S3 answered 500' };

describe('claiming', () => {
  it('gives an upload to one of 50 concurrent workers, and answers not_now to the other 49', async () => {
    const { shortCode } = await newPaste(current.db);
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        claimExecutions(current.db, uploadSubject, { keys: [shortCode], actor: `w${n}`, leaseSeconds: 6 }),
      ),
    );
    const kinds = claims.map((claim) => claim.get(shortCode)?.kind);
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'not_now')).toHaveLength(49);
    const { rows } = await sql`SELECT FROM state_transitions WHERE machine = 'task_execution'`.execute(
      current.db,
    );
    expect(rows).toHaveLength(1);
  });

  it('waits for a concurrent dispatch stamp to commit, and then claims the execution', async () => {
    const { shortCode, executionId } = await newPaste(current.db);
    const stamping = await current.db.startTransaction().execute();
    await stampDispatched(stamping, [executionId]);
    const claiming = claimOne(shortCode);
    await Promise.race([untilSomebodyWaits(current.db), claiming]);
    await stamping.commit().execute();
    expect(await claiming).toMatchObject({ executionId });
  });

  it('answers when a waiting upload will be due, and that an ended upload has ended', async () => {
    const { shortCode } = await newPaste(current.db);
    const { executionId } = await claimOne(shortCode);
    // Later than any machine takes until the next claim.
    const nextStep = { kind: 'retry', attempt: 2, delayMs: 600_000 } as const;
    await settleExecutions(current.db, uploadSubject, [{ executionId, outcome: failed, nextStep }], byW1);
    const lease = { actor: 'w', leaseSeconds: 6 };
    const waiting = await claimExecutions(current.db, uploadSubject, { keys: [shortCode], ...lease });
    expect(waiting.get(shortCode)).toMatchObject({ kind: 'not_now' });
    const { waitMs } = waiting.get(shortCode) as { waitMs: number };
    expect(waitMs).toBeGreaterThan(300_000);
    expect(waitMs).toBeLessThanOrEqual(600_000);
    await makeDue();
    await settleExecutions(
      current.db,
      uploadSubject,
      [settlement(await claimOne(shortCode), succeeded)],
      byW1,
    );
    const ended = await claimExecutions(current.db, uploadSubject, {
      keys: [shortCode, 'unknown'],
      ...lease,
    });
    expect(ended.get(shortCode)).toEqual({ kind: 'ended' });
    expect(ended.get('unknown')).toBeUndefined();
  });
});

describe('a zombie that is not reaped yet', () => {
  it('is answered with a wait of at least a second, so that its message does not cycle into the dead-letter queue', async () => {
    const { shortCode } = await newPaste(current.db);
    await claimOne(shortCode);
    await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 hour'`.execute(current.db);
    const claims = await claimExecutions(current.db, uploadSubject, {
      keys: [shortCode],
      actor: 'w2',
      leaseSeconds: 6,
    });
    const claim = claims.get(shortCode) as { kind: string; waitMs: number };
    expect(claim.kind).toBe('not_now');
    expect(claim.waitMs).toBeGreaterThanOrEqual(1000);
  });
});

describe('a paste that is deleted by hand', () => {
  it('loses its executions too, so that none stays open for ever', async () => {
    const { shortCode } = await newPaste(current.db);
    await newPaste(current.db);
    await sql`DELETE FROM pastes WHERE short_code = ${shortCode}`.execute(current.db);
    const { rows } = await sql`SELECT FROM task_executions`.execute(current.db);
    expect(rows).toHaveLength(1);
  });
});

describe('settling', () => {
  it('makes the paste PROCESSED with its URL, and deletes the payload', async () => {
    const { shortCode, id } = await newPaste(current.db);
    const settled = await settleExecutions(
      current.db,
      uploadSubject,
      [settlement(await claimOne(shortCode), succeeded)],
      byW1,
    );
    expect(settled.size).toBe(1);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      status: 'PROCESSED',
      s3_url: 's3://bucket/key',
    });
    expect(await readPayload(current.db, id)).toBeNull();
  });

  it('accepts one of 50 concurrent settlements of an execution; the other 49 get an empty result', async () => {
    const { shortCode } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        settleExecutions(current.db, uploadSubject, [settlement(upload, n % 2 ? failed : succeeded)], byW1),
      ),
    );
    expect(results.filter((settled) => settled.size === 1)).toHaveLength(1);
    expect(results.filter((settled) => settled.size === 0)).toHaveLength(49);
    const { transitions } = await readTimeline(current.db, upload.pasteId);
    expect(
      transitions.filter(({ machine, from }) => machine === 'task_execution' && from === 'RUNNING'),
    ).toHaveLength(1);
  });

  it('inserts the next attempt after a failure, and makes the paste FAILED with the reason after the sixth', async () => {
    const { shortCode, id } = await newPaste(current.db);
    for (let attempt = 1; attempt <= 6; attempt++) {
      await makeDue();
      const upload = await claimOne(shortCode);
      expect(upload.attempt).toBe(attempt);
      expect(await readPayload(current.db, id)).not.toBeNull();
      const settled = await settleExecutions(current.db, uploadSubject, [settlement(upload, failed)], byW1);
      expect(settled.get(upload.executionId)?.successorId === null).toBe(attempt === 6);
    }
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      status: 'FAILED',
      failure_reason: 'internal: 6 attempts failed; the last: S3 answered 500',
    });
    expect(await readPayload(current.db, id)).toBeNull();
    const { executions } = await readTimeline(current.db, id);
    expect(executions.map(({ attempt, status }) => [attempt, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'FAILED']),
    );
  });

  it('spends no attempt on an interruption: the successor keeps the number and is due at once', async () => {
    const { shortCode, id } = await newPaste(current.db);
    await settleExecutions(
      current.db,
      uploadSubject,
      [settlement(await claimOne(shortCode), { kind: 'interrupted' })],
      byW1,
    );
    expect((await claimOne(shortCode)).attempt).toBe(1);
    const { executions } = await readTimeline(current.db, id);
    expect(executions.map(({ attempt, error }) => [attempt, error])).toEqual([
      [1, 'interrupted'],
      [1, null],
    ]);
  });

  it('settles each execution of a mixed batch by its own outcome, in one statement', async () => {
    const pastes = await Promise.all(Array.from({ length: 10 }, () => newPaste(current.db)));
    const claims = await claimExecutions(current.db, uploadSubject, {
      keys: pastes.map(({ shortCode }) => shortCode),
      actor: 'w1',
      leaseSeconds: 6,
    });
    const uploads = [...claims.values()].flatMap((claim) =>
      claim.kind === 'claimed' ? claim.execution : [],
    );
    expect(uploads).toHaveLength(10);
    const outcomes: UploadOutcome[] = uploads.map((_, n) => (n % 3 === 0 ? failed : succeeded));
    await settleExecutions(
      current.db,
      uploadSubject,
      uploads.map((upload, n) => settlement(upload, outcomes[n] as UploadOutcome)),
      byW1,
    );
    for (const [n, { shortCode }] of uploads.entries()) {
      expect((await findPaste(current.db, shortCode))?.status).toBe(
        n % 3 === 0 ? 'IN_PROGRESS' : 'PROCESSED',
      );
    }
  });

  it('refuses a zombie whose execution was ended by the reaper', async () => {
    const { shortCode } = await newPaste(current.db);
    const zombie = await claimOne(shortCode, 'zombie');
    await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 second'`.execute(current.db);
    const lost: UploadOutcome = { kind: 'lost', error: 'worker lost' };
    await settleExecutions(current.db, uploadSubject, [settlement(zombie, lost)], {
      actor: 'reaper',
      onlyPastLease: true,
      dispatched: false,
    });
    const second = await claimOne(shortCode, 'w2');
    expect(second).toMatchObject({ attempt: 1, losses: 1 });
    expect((await settleExecutions(current.db, uploadSubject, [settlement(zombie, failed)], byW1)).size).toBe(
      0,
    );
    expect(
      (await settleExecutions(current.db, uploadSubject, [settlement(second, succeeded)], byW1)).size,
    ).toBe(1);
    expect((await findPaste(current.db, shortCode))?.status).toBe('PROCESSED');
  });
});

describe('leases', () => {
  it('protect an execution from the reaper, also when renewed after the zombie was found', async () => {
    const { shortCode } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    expect((await findZombies(current.db, uploadSubject, 10)).items).toHaveLength(0);
    await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 second'`.execute(current.db);
    expect((await findZombies(current.db, uploadSubject, 10)).items).toMatchObject([
      { executionId: upload.executionId, workerId: 'w1' },
    ]);
    expect(await renewLeases(current.db, [upload.executionId], 600)).toEqual(new Set([upload.executionId]));
    const lost: UploadOutcome = { kind: 'lost', error: 'worker lost' };
    const reaped = await settleExecutions(current.db, uploadSubject, [settlement(upload, lost)], {
      actor: 'reaper',
      onlyPastLease: true,
      dispatched: false,
    });
    expect(reaped.size).toBe(0);
  });

  it('cannot be renewed after the execution has ended', async () => {
    const { shortCode } = await newPaste(current.db);
    const upload = await claimOne(shortCode);
    await settleExecutions(current.db, uploadSubject, [settlement(upload, failed)], byW1);
    expect((await renewLeases(current.db, [upload.executionId], 600)).size).toBe(0);
  });
});

describe('the audit trail', () => {
  it('has all transitions in order, with actors and reasons', async () => {
    const { shortCode, id } = await newPaste(current.db);
    await settleExecutions(current.db, uploadSubject, [settlement(await claimOne(shortCode), failed)], byW1);
    await makeDue();
    await settleExecutions(
      current.db,
      uploadSubject,
      [settlement(await claimOne(shortCode, 'w2'), succeeded)],
      {
        actor: 'w2',
        dispatched: true,
      },
    );
    const { transitions } = await readTimeline(current.db, id);
    expect(
      transitions.map(({ machine, from, to, actor, reason }) => [machine, from, to, actor, reason]),
    ).toEqual([
      ['task_execution', 'PENDING', 'RUNNING', 'w1', 'claimed'],
      ['task_execution', 'RUNNING', 'FAILED', 'w1', 'S3 answered 500'],
      ['task_execution', 'PENDING', 'RUNNING', 'w2', 'claimed'],
      ['task_execution', 'RUNNING', 'SUCCEEDED', 'w2', null],
      ['paste_upload', 'IN_PROGRESS', 'PROCESSED', 'w2', null],
    ]);
  });
});
