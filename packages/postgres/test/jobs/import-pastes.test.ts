import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  findPaste,
  importedPositions,
  importPastes,
  listAssets,
  readPayload,
  type ClaimedJob,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { claimJob, entriesOf, firstPositions, makeDue, reap, runningJob } from '../support/jobs.ts';

const current = useDatabase();

const numbers = (positions: ReadonlySet<number>) => [...positions].toSorted((a, b) => a - b);

async function counts(): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    SELECT (SELECT count(*)::int FROM assets) AS assets, (SELECT count(*)::int FROM pastes) AS pastes,
      (SELECT count(*)::int FROM paste_payloads) AS payloads,
      (SELECT count(*)::int FROM task_executions WHERE kind = 'upload') AS uploads`.execute(current.db);
  return rows[0]!;
}

const ofEach = (n: number) => ({ assets: n, pastes: n, payloads: n, uploads: n });

describe('importing', () => {
  it('creates the paste, the payload, a PENDING upload and an asset of each entry', async () => {
    const job = await runningJob(current.db);
    const entries = entriesOf(job, [7, 3, 5], Buffer.from([0, 255, 254, 10]));
    const made = await importPastes(current.db, { ...job, entries });
    expect(made.map(({ position }) => position)).toEqual([3, 5, 7]);
    for (const { position, paste, url, storagePath } of entries) {
      const row = await findPaste(current.db, paste.shortCode);
      expect(row).toMatchObject({
        status: 'IN_PROGRESS',
        user_id: job.userId,
        visibility: 'private',
        title: `entry ${position}`,
        content_hash: paste.contentHash,
        size_bytes: 4,
      });
      expect(row!.expires_at!.getTime() - row!.created_at.getTime()).toBe(3_600_000);
      expect(await readPayload(current.db, row!.id)).toEqual(paste.content);
      const { rows: payloads } = await sql`SELECT user_id, created_at FROM paste_payloads
        WHERE paste_id = ${row!.id}`.execute(current.db);
      expect(payloads).toEqual([{ user_id: row!.user_id, created_at: row!.created_at }]);
      const { executionId } = made.find((one) => one.position === position)!;
      const { rows: executions } = await sql`SELECT kind, subject_id, attempt, status, dispatched_at
        FROM task_executions WHERE id = ${executionId}`.execute(current.db);
      expect(executions).toEqual([
        { kind: 'upload', subject_id: row!.id, attempt: 1, status: 'PENDING', dispatched_at: null },
      ]);
      const { rows: assets } = await listAssets(current.db, job.jobId, { limit: 9, after: null });
      expect(assets.find((asset) => asset.position === position)).toMatchObject({
        asset_type: 'paste',
        url,
        storage_path: storagePath,
        file_size: '4',
        user_id: job.userId,
      });
    }
    expect(numbers((await importedPositions(current.db, job.jobId))!.own)).toEqual([3, 5, 7]);
  });

  it('gives each of a thousand entries its own content', async () => {
    const job = await runningJob(current.db);
    const entries = entriesOf(job, firstPositions(1000));
    expect(await importPastes(current.db, { ...job, entries })).toHaveLength(1000);
    const { rows } = await sql<{ wrong: number }>`
      SELECT count(*)::int AS wrong FROM pastes p JOIN paste_payloads l ON l.paste_id = p.id
      WHERE convert_from(l.content, 'UTF8') <> p.title OR p.size_bytes <> length(l.content)
        OR l.user_id IS DISTINCT FROM p.user_id OR l.created_at <> p.created_at`.execute(current.db);
    expect(rows).toEqual([{ wrong: 0 }]);
    expect(await counts()).toEqual(ofEach(1000));
  });

  it('returns nothing for no entries', async () => {
    const job = await runningJob(current.db);
    expect(await importPastes(current.db, { ...job, entries: [] })).toEqual([]);
  });

  it('leaves out exactly the positions whose short code is taken by a paste or by an earlier entry', async () => {
    const job = await runningJob(current.db);
    const [first, ...rest] = entriesOf(job, [0, 1, 2, 3]);
    await importPastes(current.db, { ...job, entries: [first!] });
    const taken = (n: number, shortCode: string) => ({
      ...rest[n]!,
      paste: { ...rest[n]!.paste, shortCode },
    });
    const entries = [rest[0]!, taken(1, first!.paste.shortCode), taken(2, rest[0]!.paste.shortCode)];
    const made = await importPastes(current.db, { ...job, entries });
    expect(made.map(({ position }) => position)).toEqual([1]);
    expect(await counts()).toEqual(ofEach(2));
    const onlyTaken = await importPastes(current.db, { ...job, entries: entries.slice(1) });
    expect(onlyTaken).toEqual([]);
    expect(await counts()).toEqual(ofEach(2));
  });

  it('creates all pastes of a batch or none', async () => {
    const job = await runningJob(current.db);
    const entries = entriesOf(job, firstPositions(10));
    const wrong = { ...entries[9]!, paste: { ...entries[9]!.paste, contentHash: 'md5:nonsense' } };
    await expect(
      importPastes(current.db, { ...job, entries: [...entries.slice(0, 9), wrong] }),
    ).rejects.toMatchObject({ constraint: 'pastes_content_hash_check' });
    expect(await counts()).toEqual(ofEach(0));
  });
});

describe('a position', () => {
  it('never becomes a paste twice: the second batch with the position creates nothing', async () => {
    const job = await runningJob(current.db);
    await importPastes(current.db, { ...job, entries: entriesOf(job, [0, 1]) });
    const again = importPastes(current.db, { ...job, entries: entriesOf(job, [1, 2]) });
    await expect(again).rejects.toMatchObject({ code: '23505', constraint: 'assets_position' });
    expect(await counts()).toEqual(ofEach(2));
  });

  it('never becomes a paste twice in 20 concurrent batches of one attempt', async () => {
    const job = await runningJob(current.db);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        importPastes(current.db, { ...job, entries: entriesOf(job, firstPositions(50)) }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await counts()).toEqual(ofEach(50));
  });

  it('is independent of the positions of other jobs', async () => {
    for (const job of [await runningJob(current.db), await runningJob(current.db)]) {
      await importPastes(current.db, { ...job, entries: entriesOf(job, [0]) });
    }
    expect(await counts()).toEqual(ofEach(2));
  });

  it('never becomes a paste twice while attempts are ended under running imports, and none is left out', async () => {
    const TOTAL = 300;
    const first = await runningJob(current.db);
    /** Imports the missing positions in batches of 20, and pauses once after the third batch. */
    const run = async (job: ClaimedJob, afterThird?: () => Promise<void>): Promise<void> => {
      const there = (await importedPositions(current.db, job.jobId))!.own;
      const missing = firstPositions(TOTAL).filter((position) => !there.has(position));
      for (let start = 0; start < missing.length; start += 20) {
        const entries = entriesOf(job, missing.slice(start, start + 20));
        await importPastes(current.db, { ...job, entries });
        if (start === 40) await afterThird?.();
      }
    };
    const runs: Promise<void>[] = [];
    let job = first;
    for (let attempt = 1; attempt <= 4; attempt++) {
      const reached = Promise.withResolvers<void>();
      const paused = Promise.withResolvers<void>();
      const running = run(job, () => {
        reached.resolve();
        return paused.promise;
      });
      running.catch(() => {}); // asserted below
      runs.push(running);
      await reached.promise;
      await reap(current.db, job); // the worker still runs: from here on it is a zombie
      await makeDue(current.db); // without the wait after a loss
      job = await claimJob(current.db, job.jobId, `w${attempt + 1}`);
      paused.resolve();
    }
    await run(job);
    const ends = await Promise.allSettled(runs);
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'execution_taken' });
    }
    expect(ends.some(({ status }) => status === 'rejected')).toBe(true);
    expect(await counts()).toEqual(ofEach(TOTAL));
    expect(numbers((await importedPositions(current.db, job.jobId))!.own)).toEqual(firstPositions(TOTAL));
  });
});
