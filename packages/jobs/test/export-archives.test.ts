import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { exportPastes, type ArchiveLimits } from '../src/types/export/export-job.ts';
import { assetsOf, attempt, giveUp, newJob, newUser, run } from './support/attempts.ts';
import { archivesOf, codesIn, filesIn } from './support/exports.ts';
import { pasteRow, storedPaste, waitingPaste } from './support/pastes.ts';
import { keysIn, useWorld } from './support/world.ts';

const world = useWorld();
const LARGE: ArchiveLimits = { bytes: 1e9, files: 1e9, ms: 1e9 };
const upTo = (limits: Partial<ArchiveLimits>) => (context: Parameters<typeof exportPastes>[0]) =>
  exportPastes(context, { ...LARGE, ...limits });
const ndjson = { format: 'ndjson' };
const archiveOfNumber = (number: number) => ({ method: 'PUT', path: new RegExp(`-${number}\\.ndjson`) });

let userId: string;
beforeEach(async () => {
  userId = await newUser(world);
});

/** Oldest first. @returns their short codes */
async function makeWaiting(count: number, bytes = 10): Promise<string[]> {
  const codes: string[] = [];
  for (let n = 0; n < count; n += 1)
    codes.push(await waitingPaste(world, randomBytes(bytes), { userId, createdSecondsAgo: 1000 - n }));
  return codes;
}

describe('an export that reaches the limit of an archive', () => {
  it('goes on in the next one, and each paste is in one of them: files', async () => {
    const codes = await makeWaiting(7);
    const { job, ending, result } = await run(world, 'export', ndjson, { userId, work: upTo({ files: 3 }) });
    expect(ending.status).toBe('completed');
    expect(await codesIn(world, job.jobId)).toEqual([codes.slice(0, 3), codes.slice(3, 6), codes.slice(6)]);
    const archives = await archivesOf(world, job.jobId);
    const bytes = archives.reduce((sum, archive) => sum + archive.bytes.length, 0);
    expect(result).toMatchObject({ exported: 7, archives: 3, bytes, missing_count: 0 });
    expect(archives.map(({ key }) => key)).toEqual(
      [1, 2, 3].map((number) => `jobs/${job.jobId}/${job.executionId}-${number}.ndjson`),
    );
  });

  it('makes no empty archive when it ends at the limit', async () => {
    await makeWaiting(4);
    const { job } = await run(world, 'export', ndjson, { userId, work: upTo({ files: 2 }) });
    expect((await codesIn(world, job.jobId)).map(({ length }) => length)).toEqual([2, 2]);
  });

  it('goes on in the next one: time', async () => {
    const codes = await makeWaiting(3);
    const { job } = await run(world, 'export', ndjson, { userId, work: upTo({ ms: 0 }) });
    expect(await codesIn(world, job.jobId)).toEqual(codes.map((code) => [code]));
  });

  it.each(['zip', 'tar.gz', 'ndjson'] as const)('goes on in the next one: bytes, %s', async (format) => {
    await makeWaiting(20, 100_000);
    const work = upTo({ bytes: 500_000 });
    const { job, result } = await run(world, 'export', { format }, { userId, work });
    const archives = await archivesOf(world, job.jobId);
    expect(result).toMatchObject({ exported: 20, archives: archives.length });
    expect(archives.length).toBeGreaterThan(2);
    // What the buffers of a format hold comes on top.
    for (const { bytes } of archives) expect(bytes.length).toBeLessThan(1_000_000);
    if (format === 'ndjson') return;
    const names = await Promise.all(
      archives.map(async ({ bytes }) => Object.keys(await filesIn(format, bytes))),
    );
    expect(new Set(names.flat()).size).toBe(20);
  });
});

describe('an export whose worker', () => {
  it('stops closes its archive, and the next attempt goes on behind it', async () => {
    const codes = await makeWaiting(5);
    const burn = await waitingPaste(world, 'x', { userId, createdSecondsAgo: 998, burn: true });
    const none = await pasteRow(world, 'PROCESSED', Buffer.from('x'), { userId, createdSecondsAgo: 997 });
    const jobId = await newJob(world, 'export', ndjson, userId);
    const late = await waitingPaste(world, 'made after the job', { userId, createdSecondsAgo: 0 });
    let attempts = 0;
    for (let ended = false; !ended; attempts += 1) {
      const stop = new AbortController();
      let pastes = 0;
      const made = await attempt(world, jobId, {
        stopping: stop.signal,
        onProgress: () => {
          pastes += 1;
          if (pastes === 3) stop.abort(new Error('the worker stops'));
        },
      });
      ended = made.ending !== null;
      if (made.ending === null) {
        expect(made.error).toBe(stop.signal.reason);
        await giveUp(world, made);
        continue;
      }
      expect(made.ending).toMatchObject({
        status: 'partial',
        result: { exported: 5, left_out: 1, missing_count: 1, missing: [{ short_code: none }] },
      });
    }
    expect(attempts).toBeGreaterThan(2);
    const found = await codesIn(world, jobId);
    expect(found.flat()).toEqual(codes);
    for (const code of [burn, none, late]) expect(found.flat()).not.toContain(code);
    expect(await keysIn(world.store, 'jobs/')).toHaveLength(found.length);
  });

  it('is killed loses the archive under way alone, and its late put replaces nothing', async () => {
    const codes = await makeWaiting(4);
    const jobId = await newJob(world, 'export', ndjson, userId);
    const work = upTo({ files: 2 });
    const held = world.proxy.hold(archiveOfNumber(2));
    const zombie = attempt(world, jobId, { work });
    const put = await held;
    const executionId = /([0-9a-f-]{36})-2\.ndjson/.exec(put.request.path)![1] as string;
    await giveUp(
      world,
      { job: { executionId, attempt: 1, losses: 0 } as never },
      { kind: 'lost', error: 'worker lost: w' },
    );
    const successor = await attempt(world, jobId, { work });
    expect(successor.ending).toMatchObject({ status: 'completed', result: { exported: 4, archives: 2 } });
    const keys = [`${executionId}-1`, `${successor.job.executionId}-2`].map(
      (name) => `jobs/${jobId}/${name}.ndjson`,
    );
    await put.forward();
    expect((await zombie).error).toMatchObject({ code: 'execution_taken' });
    expect((await archivesOf(world, jobId)).map(({ key }) => key)).toEqual(keys);
    expect(await codesIn(world, jobId)).toEqual([codes.slice(0, 2), codes.slice(2)]);
    expect(await keysIn(world.store, 'jobs/')).toEqual(keys.toSorted());
  });
});

describe('the archives of older exports', () => {
  const exportNow = async (): Promise<string> => {
    const jobId = await newJob(world, 'export', ndjson, userId);
    const { job, ending } = await attempt(world, jobId);
    await sql`UPDATE task_executions SET status = 'SUCCEEDED', finished_at = now(), lease_expires_at = NULL WHERE id = ${job.executionId}`.execute(
      world.db,
    );
    await sql`UPDATE jobs SET status = ${ending!.status}, completed_at = now() WHERE id = ${jobId}`.execute(
      world.db,
    );
    return jobId;
  };
  const archivesLeft = async (jobs: readonly string[]): Promise<number[]> =>
    await Promise.all(jobs.map(async (jobId) => (await assetsOf(world, jobId)).length));

  it('are removed, objects first, but those of the three newest', async () => {
    await storedPaste(world, 'x', { userId });
    const jobs: string[] = [];
    for (let n = 0; n < 6; n += 1) jobs.push(await exportNow());
    expect(await archivesLeft(jobs)).toEqual([0, 0, 0, 1, 1, 1]);
    expect(await keysIn(world.store, 'jobs/')).toHaveLength(3);
  });

  it('keep their rows while S3 does not delete their objects, and the export goes on', async () => {
    const jobs: string[] = [];
    for (let n = 0; n < 3; n += 1) jobs.push(await exportNow());
    const [first] = await keysIn(world.store, `jobs/${jobs[0]!}/`);
    world.proxy.rule({ method: 'POST', path: /delete/ }, {
      kind: 'answer',
      status: 200,
      body: `<DeleteResult><Error><Key>${first}</Key><Code>AccessDenied</Code></Error></DeleteResult>`,
    } as never);
    jobs.push(await exportNow());
    expect(await archivesLeft(jobs)).toEqual([1, 1, 1, 1]);
    world.proxy.clear();
    jobs.push(await exportNow());
    expect(await archivesLeft(jobs)).toEqual([0, 0, 1, 1, 1]);
  });
});
