import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createJob,
  findJob,
  findOldJobs,
  importedPositions,
  importPastes,
  removeJobs,
  retryJob,
  type Database,
} from '../../src/index.ts';
import { makePastes, makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { claimJob, entriesOf } from '../support/jobs.ts';

const current = useDatabase();

const end = (db: Database, jobId: string) =>
  sql`SELECT cancel_job(${jobId}, 'w', 'cancelled: it')`.execute(db);

async function endedJob(
  options: { jobType?: string; parameters?: object; payload?: object; userId?: string } = {},
) {
  const userId = options.userId ?? (await makeUsers(current.db, 1))[0]!.id;
  const job = await createJob(current.db, {
    userId,
    jobType: 'export',
    parameters: {},
    title: 'a.zip',
    ...options,
  });
  await end(current.db, job.id);
  return { id: job.id, userId };
}

async function retried(id: string): Promise<string> {
  const retry = await retryJob(current.db, id, null);
  if (retry.kind !== 'created') throw new Error(JSON.stringify(retry));
  return retry.job.id;
}

describe('a retry', () => {
  it('is a new job of the same user with the same parameters, and both name each other', async () => {
    const { id, userId } = await endedJob({ parameters: { format: 'zip' } });
    const newId = await retried(id);
    expect(await findJob(current.db, id)).toMatchObject({
      status: 'failed',
      retried_as: newId,
      retry_of: null,
    });
    expect(await findJob(current.db, newId)).toMatchObject({
      user_id: userId,
      job_type: 'export',
      title: 'a.zip',
      parameters: { format: 'zip' },
      status: 'queued',
      retry_of: id,
      retried_as: null,
    });
    expect((await claimJob(current.db, newId)).attempt).toBe(1);
  });

  it('is made by one of ten at once, and the others learn its id', async () => {
    const { id } = await endedJob();
    const retries = await Promise.all(Array.from({ length: 10 }, () => retryJob(current.db, id, null)));
    const made = retries.flatMap((each) => (each.kind === 'created' ? [each.job.id] : []));
    expect(made).toHaveLength(1);
    const refused = retries.filter(({ kind }) => kind === 'refused');
    expect(refused).toEqual(
      Array.from({ length: 9 }, () => ({ kind: 'refused', why: { kind: 'retried', as: made[0] } })),
    );
    const { rows } = await sql`SELECT FROM jobs`.execute(current.db);
    expect(rows).toHaveLength(2);
  });

  it('is refused for a job that is not failed or partial, that is unknown, or whose items are deleted', async () => {
    const [user] = await makeUsers(current.db, 1);
    const open = await createJob(current.db, { userId: user!.id, jobType: 'import', parameters: {} });
    const why = async (id: string) => await retryJob(current.db, id, null);
    expect(await why(open.id)).toEqual({ kind: 'refused', why: { kind: 'state', status: 'queued' } });
    expect(await why('019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70')).toEqual({ kind: 'not_found' });
    const { id } = await endedJob({ payload: { items: [] } });
    expect(await why(id)).toEqual({ kind: 'refused', why: { kind: 'content_deleted' } });
    const ofEarlierRelease = await endedJob({ jobType: 'import', parameters: {} });
    expect(await why(ofEarlierRelease.id)).toEqual({ kind: 'refused', why: { kind: 'content_deleted' } });
  });

  it.each([
    ['deleted', sql`UPDATE pastes SET deletion_requested_at = now()`],
    [
      'expired',
      sql`UPDATE pastes SET expires_at = now() - interval '1 second', created_at = now() - interval '1 hour'`,
    ],
    [
      'private and of another user',
      sql`UPDATE pastes SET visibility = 'private', user_id = (SELECT id FROM users ORDER BY id LIMIT 1)`,
    ],
    ['removed', sql`DELETE FROM pastes`],
  ])('is refused when its source is %s, and is possible before', async (_, change) => {
    await makeUsers(current.db, 1);
    const [source] = await makePastes(current.db, 1, { status: 'PROCESSED' });
    const parameters = { source_short_code: source!.shortCode };
    const first = await endedJob({ parameters });
    const second = await endedJob({ parameters });
    await retried(first.id);
    await current.db.connection().execute(async (connection) => {
      await sql`SET session_replication_role = replica`.execute(connection);
      await change.execute(connection);
      await sql`SET session_replication_role = origin`.execute(connection);
    });
    expect(await retryJob(current.db, second.id, null)).toEqual({
      kind: 'refused',
      why: { kind: 'source_gone', shortCode: source!.shortCode },
    });
  });

  it('counts as an open job, and changes nothing when its user has too many', async () => {
    const { id, userId } = await endedJob();
    await createJob(current.db, { userId, jobType: 'import', parameters: {} });
    expect(await retryJob(current.db, id, 1)).toEqual({ kind: 'too_many_open' });
    expect(await findJob(current.db, id)).toMatchObject({ retried_as: null });
    expect((await retryJob(current.db, id, 2)).kind).toBe('created');
  });
});

describe('a line of retries', () => {
  async function lineOfThree() {
    const ids = [(await endedJob()).id];
    for (const position of [3, 5]) {
      const id = await retried(ids.at(-1)!);
      const job = await claimJob(current.db, id);
      await importPastes(current.db, { ...job, entries: entriesOf(job, [position]) });
      await end(current.db, id);
      ids.push(id);
    }
    return ids;
  }

  it('knows which positions the job itself has imported, and which the jobs before', async () => {
    const ids = await lineOfThree();
    const newest = await retried(ids[2]!);
    expect(await importedPositions(current.db, newest)).toEqual({ own: new Set(), earlier: new Set([3, 5]) });
    expect(await importedPositions(current.db, ids[2]!)).toEqual({
      own: new Set([5]),
      earlier: new Set([3]),
    });
    await sql`DELETE FROM jobs WHERE id = ${ids[1]}`.execute(current.db);
    expect(await importedPositions(current.db, newest)).toBeNull();
  });

  it('is removed from its end', async () => {
    const ids = await lineOfThree();
    await sql`UPDATE jobs SET completed_at = now() - interval '31 days'`.execute(current.db);
    const removed: string[] = [];
    for (;;) {
      const old = await findOldJobs(current.db, { retentionSeconds: 30 * 86_400, after: null, limit: 9 });
      if (old.length === 0) break;
      removed.push(...old.map(({ id }) => id));
      await removeJobs(current.db, old);
    }
    expect(removed).toEqual(ids.toReversed());
  });

  it('stays when the retry is made after the old job was found for its removal', async () => {
    const { id } = await endedJob();
    await sql`UPDATE jobs SET completed_at = now() - interval '31 days'`.execute(current.db);
    const old = await findOldJobs(current.db, { retentionSeconds: 30 * 86_400, after: null, limit: 9 });
    expect(old).toMatchObject([{ id }]);
    const newest = await retried(id);
    expect(await removeJobs(current.db, old)).toBe(0);
    expect(await importedPositions(current.db, newest)).not.toBeNull();
  });
});
