import { describe, expect, it } from '@jest/globals';
import { createTestDatabase } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  createAsset,
  findJob,
  importPastes,
  listAssets,
  renewLeases,
  writeProgress,
} from '../../src/index.ts';
import type { ClaimedJob, Database } from '../../src/index.ts';
import { whileRunning } from '../../src/executions/fence.ts';
import { importRows } from '../../src/testing/index.ts';
import { open, useOwnServer } from '../support/database.ts';
import {
  claimJob,
  endingOf,
  entriesOf,
  newAsset,
  newJob,
  reap,
  runningJob,
  settle,
} from '../support/jobs.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useOwnServer();
const all = { limit: 100, after: null };

const progressOf = ({ executionId, jobId }: ClaimedJob, percent: number, message: string | null = null) =>
  writeProgress(current.db, { executionId, jobId, percent, message });

describe('J4: progress', () => {
  it('is written, with an optional message, while the job is processing', async () => {
    const job = await runningJob(current.db);
    expect(await progressOf(job, 30, 'unpacking')).toBe(true);
    expect(await findJob(current.db, job.jobId)).toMatchObject({
      progress: 30,
      progress_message: 'unpacking',
    });
    expect(await progressOf(job, 40)).toBe(true);
    expect(await findJob(current.db, job.jobId)).toMatchObject({
      progress: 40,
      progress_message: 'unpacking',
    });
  });

  it('is not a transition, and is allowed by J1', async () => {
    const job = await runningJob(current.db);
    const count = async () => (await sql`SELECT FROM state_transitions`.execute(current.db)).rows.length;
    const before = await count();
    await progressOf(job, 30);
    expect(await count()).toBe(before);
  });

  it('never decreases, neither when a later attempt starts over nor by two concurrent writes', async () => {
    const first = await runningJob(current.db);
    await Promise.all([50, 10, 70, 20, 60].map((percent) => progressOf(first, percent)));
    await reap(current.db, first);
    const second = await claimJob(current.db, first.jobId, 'w2');
    expect(await progressOf(second, 5, 'again')).toBe(true);
    expect(await findJob(current.db, first.jobId)).toMatchObject({ progress: 70, progress_message: 'again' });
  });

  it('is a whole number from 0 to 100, whatever a job type reports', async () => {
    for (const [percent, written] of [
      [-5, 0],
      [Number.NaN, 0],
      [99.9, 99],
      [1e9, 100],
    ] as const) {
      const job = await runningJob(current.db);
      expect(await progressOf(job, percent, 'a\0b')).toBe(true);
      expect(await findJob(current.db, job.jobId)).toMatchObject({
        progress: written,
        progress_message: 'a\u{FFFD}b',
      });
    }
  });

  it('is ignored before the job is claimed and after it has ended', async () => {
    const { id: jobId, executionId } = await newJob(current.db);
    expect(await writeProgress(current.db, { executionId, jobId, percent: 9, message: 'm' })).toBe(false);
    const job = await claimJob(current.db, jobId);
    await settle(current.db, endingOf(job, { status: 'failed', result: {}, errorMessage: 'why' }));
    expect(await progressOf(job, 9, 'm')).toBe(false);
    expect(await findJob(current.db, jobId)).toMatchObject({ progress: 0, progress_message: null });
  });

  it('is ignored when somebody has ended the job by hand and its execution still runs', async () => {
    const job = await runningJob(current.db);
    await sql`UPDATE jobs SET status = 'failed', error_message = 'by hand', completed_at = now()`.execute(
      current.db,
    );
    expect(await progressOf(job, 9, 'm')).toBe(false);
    expect(await findJob(current.db, job.jobId)).toMatchObject({ progress: 0, progress_message: null });
  });

  it('is refused by the schema below 0 and above 100 (J2)', async () => {
    await newJob(current.db);
    for (const progress of [-1, 101]) {
      const change = sql`UPDATE jobs SET progress = ${progress}`.execute(current.db);
      await expect(change).rejects.toMatchObject({ constraint: 'jobs_progress_check' });
    }
  });

  it('is written as HOT updates, which write to no index', async () => {
    // Postgres adds the updates of earlier tests to the counters of their database at any time.
    const db = open((await createTestDatabase(current.stack)).url, 1);
    const job = await runningJob(db);
    const updates = async () => {
      await sql`SELECT pg_stat_force_next_flush()`.execute(db);
      const { rows } = await sql<{ all: string; hot: string }>`
        SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relname = 'jobs'`.execute(
        db,
      );
      return { all: Number(rows[0]?.all), hot: Number(rows[0]?.hot) };
    };
    const before = await updates();
    for (let percent = 1; percent <= 100; percent++) {
      await writeProgress(db, { ...job, percent, message: `at ${percent}` });
    }
    const after = await updates();
    await db.destroy();
    expect(after.all - before.all).toBe(100);
    expect(after.hot - before.hot).toBe(100);
  });
});

describe('J5: assets', () => {
  it('are created while the job runs, and removed with the job', async () => {
    const job = await runningJob(current.db);
    const asset = { ...newAsset(job), fileSize: 5_000_000_000 };
    await createAsset(current.db, { executionId: job.executionId, asset });
    const { rows } = await listAssets(current.db, job.jobId, all);
    expect(rows).toMatchObject([
      {
        job_id: job.jobId,
        user_id: job.userId,
        asset_type: 'archive',
        url: asset.url,
        storage_path: asset.storagePath,
        file_size: '5000000000',
        position: null,
      },
    ]);
    await sql`DELETE FROM jobs`.execute(current.db);
    expect((await sql`SELECT FROM assets`.execute(current.db)).rows).toHaveLength(0);
  });

  it('leave a job completed whose work reports so, with the result of that work', async () => {
    const job = await runningJob(current.db);
    await createAsset(current.db, { ...job, asset: newAsset(job) });
    expect(await settle(current.db, endingOf(job))).toMatchObject({ status: 'completed' });
    expect(await findJob(current.db, job.jobId)).toMatchObject({ status: 'completed', result: { made: 1 } });
  });

  it('are not created before the job is claimed', async () => {
    const { id: jobId, executionId, userId } = await newJob(current.db);
    const job = {
      jobId,
      executionId,
      userId,
      attempt: 1,
      losses: 0,
      expiryRules: null,
      jobType: 'import',
      parameters: {},
    };
    const asset = newAsset(job);
    await expect(createAsset(current.db, { executionId, asset })).rejects.toMatchObject({ executionId });
  });
});

/** Each way to write for a job, and its answer to an execution that has ended. */
const writes: Record<string, (db: Database, job: ClaimedJob) => Promise<unknown>> = {
  progress: (db, job) => writeProgress(db, { ...job, percent: 99, message: 'a zombie was here' }),
  'an asset': (db, job) => createAsset(db, { executionId: job.executionId, asset: newAsset(job) }),
  pastes: (db, job) => importPastes(db, { ...job, entries: entriesOf(job, [0, 1]) }),
};

/** Everything that the run of a job can leave behind. */
async function remains(): Promise<unknown> {
  const { rows } = await sql`
    SELECT (SELECT count(*) FROM assets) AS assets, (SELECT count(*) FROM pastes) AS pastes,
      (SELECT count(*) FROM paste_payloads) AS payloads,
      (SELECT count(*) FROM task_executions WHERE kind = 'upload') AS uploads,
      (SELECT max(progress) FROM jobs) AS progress, (SELECT max(progress_message) FROM jobs) AS message`.execute(
    current.db,
  );
  return rows[0];
}

const nothing = { assets: '0', pastes: '0', payloads: '0', uploads: '0', progress: 0, message: null };

describe.each(Object.keys(writes))('%s of a zombie', (name) => {
  const write = (db: Database, job: ClaimedJob) =>
    writes[name]!(db, job).catch((error: unknown) => (error as { code?: string }).code ?? error);
  const ignored = name === 'progress' ? false : 'execution_taken';

  it('changes nothing once its execution has ended, and throws', async () => {
    const zombie = await runningJob(current.db);
    await reap(current.db, zombie);
    expect(await write(current.db, zombie)).toBe(ignored);
    await claimJob(current.db, zombie.jobId, 'w2');
    expect(await write(current.db, zombie)).toBe(ignored);
    expect(await remains()).toEqual(nothing);
  });

  it('changes nothing when the write started before the end and got its lock after the end', async () => {
    const zombie = await runningJob(current.db);
    const ending = await current.db.startTransaction().execute();
    await reap(ending, zombie);
    const writing = write(current.db, zombie);
    await untilSomebodyWaits(current.db);
    await ending.commit().execute();
    expect(await writing).toBe(ignored);
    expect(await remains()).toEqual(nothing);
  });

  it('counts when the write was first: the end waits for the write', async () => {
    const zombie = await runningJob(current.db);
    const writing = await current.db.startTransaction().execute();
    await write(writing, zombie);
    const ending = reap(current.db, zombie);
    await untilSomebodyWaits(current.db);
    await writing.commit().execute();
    expect(await ending).toMatchObject({ status: 'processing' });
    expect(await remains()).not.toEqual(nothing);
  });

  it('goes through while a heartbeat renews the lease', async () => {
    const job = await runningJob(current.db);
    const renewing = await current.db.startTransaction().execute();
    await renewLeases(renewing, [job.executionId], 6);
    const writing = write(current.db, job);
    await untilSomebodyWaits(current.db);
    await renewing.commit().execute();
    await writing;
    expect(await remains()).not.toEqual(nothing);
  });

  it('is refused for a job of another execution', async () => {
    const job = await runningJob(current.db);
    const other = await runningJob(current.db);
    expect(await write(current.db, { ...job, jobId: other.jobId })).toBe(ignored);
    expect(await remains()).toEqual(nothing);
  });
});

describe('the fence', () => {
  it('rereads a state that has changed since the statement started, also when it was changed by hand', async () => {
    const zombie = await runningJob(current.db);
    const pausing = await current.db.startTransaction().execute();
    await sql`SELECT pg_advisory_xact_lock(1)`.execute(pausing);
    const fenced = sql<{ id: string | null }>`
      WITH ${whileRunning(zombie)}
      SELECT CASE WHEN pg_advisory_xact_lock(1) IS NOT NULL THEN (SELECT job_id FROM running) END AS id`.execute(
      current.db,
    );
    await untilSomebodyWaits(current.db);
    await sql`UPDATE task_executions SET status = 'FAILED', error = 'by hand', finished_at = now(), lease_expires_at = NULL
      WHERE id = ${zombie.executionId}`.execute(current.db);
    await pausing.commit().execute();
    expect((await fenced).rows).toEqual([{ id: null }]);
  });

  it('opens for no execution of an upload, also when its subject has the id of the job', async () => {
    const job = await runningJob(current.db);
    const { rows } = await importRows(current.db, (importing) =>
      sql<{ id: string }>`
        INSERT INTO task_executions (kind, subject_id, attempt, status, worker_id, started_at, lease_expires_at)
        VALUES ('upload', ${job.jobId}, 1, 'RUNNING', 'w1', now(), now()) RETURNING id`.execute(importing),
    );
    const fencedBy = (executionId: string) =>
      sql`WITH ${whileRunning({ ...job, executionId })} SELECT FROM running`.execute(current.db);
    expect((await fencedBy(job.executionId)).rows).toHaveLength(1);
    expect((await fencedBy(rows[0]!.id)).rows).toHaveLength(0);
  });
});
