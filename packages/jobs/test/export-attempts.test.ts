import { beforeEach, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { abortExports, EXPORT_FORMATS, makeLargePastes } from './support/aborted-exports.ts';
import { assetsOf, attempt, giveUp, newJob, newUser } from './support/attempts.ts';
import { archiveOf } from './support/exports.ts';
import { storedPaste } from './support/pastes.ts';
import { keysIn, openStore, openUploads, useWorld } from './support/world.ts';

const world = useWorld();
const PART = { method: 'PUT', path: /partNumber=/ };
/** Longer than any test. */
const PATIENCE_MS = 600_000;

let userId: string;
beforeEach(async () => {
  userId = await newUser(world);
});

describe('an export that is aborted', () => {
  it.each(EXPORT_FORMATS)(
    'ends at once and leaves no multipart upload, and the next attempt is whole: %s',
    async (format) => {
      await makeLargePastes(world, userId);
      const jobId = await newJob(world, 'export', { format }, userId);
      const stop = new AbortController();
      const held = world.proxy.hold(PART);
      const store = openStore(world, PATIENCE_MS);
      const running = attempt(world, jobId, { signal: stop.signal, services: { store } });
      await held; // and never answered: only the abort ends the request within the time of the test
      expect(await openUploads(world.store)).toHaveLength(1);
      stop.abort(new Error('the worker stops'));
      const aborted = await running;
      store.close();
      expect(aborted.error).toBe(stop.signal.reason);
      expect(await openUploads(world.store)).toEqual([]);
      expect(await keysIn(world.store, 'jobs/')).toEqual([]);
      await giveUp(world, aborted);
      const { ending } = await attempt(world, jobId);
      expect(ending).toMatchObject({ status: 'completed', result: { exported: 9 } });
      await archiveOf(world, jobId);
    },
  );

  it('ends immediately while it waits for an object of S3', async () => {
    await storedPaste(world, 'x', { userId });
    const stop = new AbortController();
    const held = world.proxy.hold({ method: 'GET', path: /pastes/ });
    const running = attempt(world, await newJob(world, 'export', {}, userId), { signal: stop.signal });
    await held;
    stop.abort(new Error('the worker stops'));
    expect((await running).error).toBe(stop.signal.reason);
  });

  // The volume of this property is in export-attempts.volume.ts.
  it('ends with the abort or is complete, whenever it is aborted', () => abortExports(world, userId, 2));
});

describe('an attempt at an export', () => {
  it('removes what earlier attempts left in S3, and nothing of other jobs', async () => {
    // Sent without a signature, which the emulator accepts: the store itself always completes or aborts its
    // uploads.
    const begin = (key: string) => fetch(`${world.proxy.url}/pasteflow/${key}?uploads`, { method: 'POST' });
    const put = (key: string) =>
      world.store.putStream(key, Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
    const jobId = await newJob(world, 'export', {}, userId);
    const other = await newJob(world, 'export', {}, userId);
    const first = await attempt(world, jobId);
    await giveUp(world, first, { kind: 'lost', error: 'worker lost: w' }); // before it could settle
    const earlier = `jobs/${jobId}/${first.job.executionId}-2`;
    const later = `jobs/${jobId}/ffffffff-ffff-7fff-bfff-ffffffffffff-1`;
    for (const key of [`${earlier}.zip`, `${earlier}.tar.gz`, `jobs/${other}/x.zip`, `${later}.zip`])
      await begin(key);
    for (const key of [`${earlier}.tar.gz`, `jobs/${other}/x.zip`, `${later}.zip`]) await put(key);

    const second = await attempt(world, jobId);
    expect(second.ending).toMatchObject({ status: 'completed' });
    const made = `jobs/${jobId}/${first.job.executionId}-1.zip`;
    expect((await openUploads(world.store)).map(({ key }) => key).toSorted()).toEqual(
      [`jobs/${other}/x.zip`, `${later}.zip`].toSorted(),
    );
    expect(await keysIn(world.store, 'jobs/')).toEqual(
      [made, `jobs/${other}/x.zip`, `${later}.zip`].toSorted(),
    );
    expect((await assetsOf(world, jobId)).map(({ storage_path }) => storage_path)).toEqual([made]);
  });

  it('removes its archive when it was declared lost', async () => {
    await makeLargePastes(world, userId, 1);
    const jobId = await newJob(world, 'export', {}, userId);
    const held = world.proxy.hold({ method: 'PUT', path: /jobs/ });
    const running = attempt(world, jobId);
    const request = await held;
    const executionId = /([0-9a-f-]{36})-1\.zip/.exec(request.request.path)![1] as string;
    await giveUp(
      world,
      { job: { executionId, attempt: 1, losses: 0 } as never },
      { kind: 'lost', error: 'worker lost: w' },
    );
    await request.forward();
    expect((await running).error).toMatchObject({ code: 'execution_taken' });
    expect(await keysIn(world.store, 'jobs/')).toEqual([]);
    expect(await assetsOf(world, jobId)).toEqual([]);
  });
});
