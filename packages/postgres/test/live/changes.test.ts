import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Client } from 'pg';
import {
  claimExecutions,
  createJob,
  expirePaste,
  renewLeases,
  settleExecutions,
  stampDispatched,
  uploadSubject,
  writeProgress,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';
import { claimJob } from '../support/jobs.ts';

const current = useDatabase({ fresh: 'file' });

let listener: Client;
let heard: string[];
beforeEach(async () => {
  heard = [];
  listener = new Client({ connectionString: current.url });
  await listener.connect();
  listener.on('notification', ({ payload = '' }) => heard.push(payload));
  await listener.query('LISTEN pasteflow_changes');
});
afterEach(async () => await listener.end());

/** What was said by statements that have committed: a query's answer comes after the notifications that were there before. */
async function said(): Promise<readonly string[]> {
  await listener.query('SELECT 1');
  return heard.splice(0);
}

const settlement = (executionId: string, isStored = true) =>
  isStored
    ? {
        executionId,
        outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' },
        nextStep: { kind: 'done' as const },
      }
    : {
        executionId,
        outcome: { kind: 'failed' as const, error: 'S3 is down' },
        nextStep: { kind: 'retry' as const, attempt: 2, delayMs: 0 },
      };

async function claimed(count: number): Promise<{ pasteIds: string[]; executionIds: string[] }> {
  const made = await makePastes(current.db, count, { status: 'IN_PROGRESS' });
  const shortCodes = made.map(({ shortCode }) => shortCode);
  await claimExecutions(current.db, uploadSubject, { keys: shortCodes, actor: 'w', leaseSeconds: 60 });
  await said();
  return {
    pasteIds: made.map(({ id }) => id).toSorted(),
    executionIds: made.map(({ executionId }) => executionId),
  };
}

describe('a statement that changes states says so once', () => {
  it('a claim: the ids of the pastes, in order', async () => {
    const made = await makePastes(current.db, 10, { status: 'IN_PROGRESS' });
    expect(await said()).toEqual([]); // a creation changes nothing that anybody could be waiting for
    const shortCodes = made.map(({ shortCode }) => shortCode);
    await claimExecutions(current.db, uploadSubject, { keys: shortCodes, actor: 'w', leaseSeconds: 60 });
    expect(await said()).toEqual([
      made
        .map(({ id }) => id)
        .toSorted()
        .join(','),
    ]);
  });

  it('a settlement of ten, of executions and of pastes', async () => {
    const { pasteIds, executionIds } = await claimed(10);
    const settlements = executionIds.map((id) => settlement(id));
    await settleExecutions(current.db, uploadSubject, settlements, { actor: 'w', dispatched: true });
    expect(await said()).toEqual([pasteIds.join(',')]);
  });

  it('a settlement with a failed attempt among them: for each kind of row', async () => {
    const { pasteIds, executionIds } = await claimed(2);
    const settlements = executionIds.map((id, i) => settlement(id, i === 0));
    await settleExecutions(current.db, uploadSubject, settlements, { actor: 'w', dispatched: true });
    const words = await said();
    expect(words).toContain(pasteIds.join(','));
    expect(words).toHaveLength(2);
    expect(words.every((word) => word.split(',').every((id) => pasteIds.includes(id)))).toBe(true);
  });

  it.each([
    [150, 'their ids'],
    [151, 'a star'],
  ])('%s rows: by %s', async (count) => {
    const { pasteIds, executionIds } = await claimed(count);
    await settleExecutions(
      current.db,
      uploadSubject,
      executionIds.map((id) => settlement(id)),
      { actor: 'w', dispatched: true },
    );
    expect(await said()).toEqual([count === 150 ? pasteIds.join(',') : '*']);
  });

  it('a star for many rows of which few change their state', async () => {
    const { executionIds } = await claimed(1);
    await makePastes(current.db, 150, { status: 'PROCESSED' });
    await sql`
      UPDATE pastes SET title = 'x', status = 'PROCESSED', s3_url = 's3://b/k', processed_at = now()
      WHERE id = (SELECT subject_id FROM task_executions WHERE id = ${executionIds[0]}) OR status = 'PROCESSED'`.execute(
      current.db,
    );
    expect(await said()).toEqual(['*']);
  });

  it('plain SQL too, and nothing when it is rolled back', async () => {
    const { pasteIds } = await claimed(1);
    const fail = sql`UPDATE pastes SET status = 'FAILED', failure_reason = 'x', failed_at = now() WHERE id = ${pasteIds[0]}`;
    const rollBack = new Error('roll back');
    const rolledBack = current.db.transaction().execute(async (tx) => {
      await fail.execute(tx);
      throw rollBack;
    });
    await expect(rolledBack).rejects.toBe(rollBack);
    expect(await said()).toEqual([]);
    await fail.execute(current.db);
    expect(await said()).toEqual([pasteIds[0]]);
  });
});

describe('what clients see beside the state', () => {
  it('progress of a job is told, by number and by message, and an update that changes neither is not', async () => {
    const [user] = await makeUsers(current.db, 1);
    const { id: jobId } = await createJob(current.db, {
      userId: user!.id,
      jobType: 'export',
      parameters: {},
    });
    const { executionId } = await claimJob(current.db, jobId);
    expect(await said()).toEqual([jobId]);
    const told = async (percent: number, message: string | null) => {
      await writeProgress(current.db, { jobId, executionId, percent, message });
      return await said();
    };
    expect(await told(10, null)).toEqual([jobId]);
    expect(await told(10, 'half of it')).toEqual([jobId]);
    expect(await told(10, 'half of it')).toEqual([]);
    expect(await told(5, null)).toEqual([]); // it never goes back
  });

  it('the deletion of a paste by its user', async () => {
    const { id } = await newPaste(current.db);
    await expirePaste(current.db, id);
    expect(await said()).toEqual([id]);
  });
});

it('renewed leases and stamps of what was sent say nothing', async () => {
  const { executionIds } = await claimed(3);
  expect((await renewLeases(current.db, executionIds, 60)).size).toBe(3);
  const { executionId } = await newPaste(current.db);
  await stampDispatched(current.db, [executionId]);
  expect(await said()).toEqual([]);
});
