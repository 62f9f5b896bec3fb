import { describe, expect, it } from '@jest/globals';
import { importedPositions } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { assetsOf, attempt, giveUp, newJob, newUser, type Attempt } from './support/attempts.ts';
import { importedBy, pasteCount, waitingPaste } from './support/pastes.ts';
import { tarGzOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf } from './support/zip.ts';

const world = useWorld();
const ENTRIES = 1000;

/** Every hundredth entry is invalid. */
const entries = Array.from({ length: ENTRIES }, (_, n) => ({
  name: `${n}.txt`,
  content: n % 100 === 50 ? '' : `entry ${n}`,
}));

const inputs: Record<string, () => Promise<object>> = {
  items: () => Promise.resolve({ items: entries.map(({ content }) => ({ content })) }),
  NDJSON: async () => ({
    source_short_code: await waitingPaste(
      world,
      entries.map(({ content }) => JSON.stringify({ content })).join('\n'),
    ),
  }),
  'a tar.gz': async () => ({ source_short_code: await waitingPaste(world, tarGzOf(entries)) }),
  'a zip': async () => ({ source_short_code: await waitingPaste(world, zipOf(entries)) }),
};

/**
 * Runs attempts at the job until one ends. Aborts each of the others after it has created some more pastes.
 */
async function attemptsUntilEnd(jobId: string): Promise<Attempt> {
  for (let count = 1; ; count += 1) {
    const stop = new AbortController();
    const after = 1 + Math.floor(Math.random() * 3);
    let reports = 0;
    const made = await attempt(world, jobId, {
      signal: stop.signal,
      onProgress: () => {
        reports += 1;
        if (reports === after) stop.abort(new Error('the worker stops'));
      },
    });
    if (made.ending !== null) return made;
    expect(made.error).toBe(stop.signal.reason);
    expect(count).toBeLessThan(20);
    await giveUp(world, made);
  }
}

describe('an import that is interrupted repeatedly', () => {
  it.each(Object.keys(inputs))('imports every entry exactly once: %s', async (name) => {
    const parameters = await inputs[name]!();
    const before = await pasteCount(world);
    const jobId = await newJob(world, 'import', parameters, await newUser(world));
    const { ending, job } = await attemptsUntilEnd(jobId);
    expect(job.attempt).toBe(1); // a stop spends no attempt
    expect(ending).toMatchObject({ status: 'partial', result: { imported: 990, failed: 10 } });
    expect((ending!.result.errors as { position: number }[]).map(({ position }) => position)).toEqual(
      Array.from({ length: 10 }, (_, n) => n * 100 + 50),
    );
    const pastes = await importedBy(world, jobId);
    expect(pastes.map(({ position, content }) => [position, String(content)])).toEqual(
      entries.flatMap(({ content }, position) => (content === '' ? [] : [[position, content]])),
    );
    expect(await pasteCount(world)).toBe(before + 990);
    expect(await assetsOf(world, jobId)).toHaveLength(990);
  });
});

describe('an import whose execution is lost', () => {
  it('creates nothing more, and the next attempt continues where it ended', async () => {
    const jobId = await newJob(world, 'import', await inputs.items!(), await newUser(world));
    let declaring: Promise<void> | undefined;
    const lost = await attempt(world, jobId, {
      onProgress: (_, job) => {
        declaring ??= giveUp(world, { job }, { kind: 'lost', error: 'worker lost: w' });
      },
    });
    await declaring;
    expect(lost.error).toMatchObject({ code: 'execution_taken' });
    const { size } = (await importedPositions(world.db, jobId))!.own;
    expect(size).toBeLessThan(990);
    const { ending, job } = await attempt(world, jobId);
    expect(job).toMatchObject({ attempt: 1, losses: 1 }); // a loss spends no attempt
    expect(ending).toMatchObject({ status: 'partial', result: { imported: 990, failed: 10 } });
    expect(await importedBy(world, jobId)).toHaveLength(990);
    expect(await pasteCount(world)).toBe(990);
  });
});

/** The uploads that are open end, as a worker ends them. */
const endUploads = () => sql`DELETE FROM paste_payloads`.execute(world.db);

describe('an import of a user with more open uploads than 250', () => {
  const services = { maxOpenUploads: { uploads: 250, bytes: 1e9 } };

  it('yields until they have ended, makes at most a batch more, and spends no attempt', async () => {
    const jobId = await newJob(world, 'import', await inputs.items!(), await newUser(world));
    const counts: number[] = [];
    for (;;) {
      const made = await attempt(world, jobId, { services });
      counts.push(await pasteCount(world));
      expect(made.job.attempt).toBe(1);
      if (made.ending !== null) break;
      expect(made.error).toMatchObject({ name: 'WorkYieldedError', delayMs: 1000 });
      await giveUp(world, made, { kind: 'yielded', delayMs: 1000 });
      await endUploads();
    }
    expect(counts).toEqual([300, 600, 900, 990]);
    expect(await assetsOf(world, jobId)).toHaveLength(990);
  });

  it('yields before it reads its input, for longer the longer they wait and the more jobs the user has', async () => {
    const userId = await newUser(world);
    const jobId = await newJob(world, 'import', { source_short_code: 'none' }, userId);
    await newJob(world, 'export', {}, userId);
    for (let n = 0; n < 251; n += 1) await waitingPaste(world, 'open', { userId });
    await sql`UPDATE paste_payloads SET created_at = now() - interval '5 seconds'`.execute(world.db);
    const { error } = await attempt(world, jobId, { services });
    const { delayMs } = error as { delayMs: number };
    expect(delayMs).toBeGreaterThanOrEqual(10_000);
    expect(delayMs).toBeLessThanOrEqual(60_000);
  });

  it('counts their bytes, too, and nothing of other users', async () => {
    const items = { items: [{ content: 'one' }] };
    const userId = await newUser(world);
    for (let n = 0; n < 3; n += 1) await waitingPaste(world, 'x'.repeat(1000), { userId });
    const bounded = (uploads: number, bytes: number) => ({
      services: { maxOpenUploads: { uploads, bytes } },
    });
    const jobId = await newJob(world, 'import', items, userId);
    const yielded = await attempt(world, jobId, bounded(250, 2999));
    expect(yielded.error).toMatchObject({ name: 'WorkYieldedError' });
    await giveUp(world, yielded);
    expect((await attempt(world, jobId, bounded(250, 3000))).error).toBeNull();
    const others = await newJob(world, 'import', items, await newUser(world));
    expect((await attempt(world, others, bounded(0, 0))).error).toBeNull();
  });
});
