import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import { attempt, newJob } from './attempts.ts';
import { archiveOf } from './exports.ts';
import { waitingPaste } from './pastes.ts';
import { openUploads, type World } from './world.ts';

const MIB = 1024 * 1024;
export const EXPORT_FORMATS = ['zip', 'tar.gz', 'ndjson'] as const;

/** Incompressible content, longer than a part of a multipart upload. */
export async function makeLargePastes(world: World, userId: string, count = 9): Promise<void> {
  for (let n = 0; n < count; n += 1) await waitingPaste(world, randomBytes(MIB), { userId });
}

/**
 * Aborts exports after a random number of reports of their progress. Each ends with the abort, or is
 * complete.
 */
export async function abortExports(world: World, userId: string, rounds: number): Promise<void> {
  await makeLargePastes(world, userId);
  for (let n = 0; n < rounds; n += 1) {
    const format = EXPORT_FORMATS[n % EXPORT_FORMATS.length];
    const jobId = await newJob(world, 'export', { format }, userId);
    const stop = new AbortController();
    const after = Math.floor(Math.random() * 11);
    let reports = 0;
    const { ending, error } = await attempt(world, jobId, {
      signal: stop.signal,
      onProgress: () => {
        reports += 1;
        if (reports === after) setImmediate(() => stop.abort(new Error('the worker stops')));
      },
    });
    if (ending === null) expect(error).toBe(stop.signal.reason);
    else await archiveOf(world, jobId);
    expect(await openUploads(world.store)).toEqual([]);
  }
}
