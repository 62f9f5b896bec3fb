import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { makePastes } from '@pasteflow/postgres/testing';
import { newJob, newUser } from './support/attempts.ts';
import { storedPaste, waitingPaste } from './support/pastes.ts';
import { tarGzOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf } from './support/zip.ts';

const world = useWorld();
const run = promisify(execFile);
const MIB = 1024 * 1024;
interface Measured {
  /** Maximum memory in use, minus the memory in use before. */
  readonly grownBytes: number;
  readonly outcome: unknown;
}

/**
 * Runs the jobs one after the other in a separate process, the first as warm-up.
 * @returns the measurements of the others
 */
async function measured(...jobs: string[]): Promise<Measured[]> {
  const script = new URL('support/measured-job.ts', import.meta.url).pathname;
  const args = [world.databaseUrl, world.proxy.url, String(16 * MIB), ...jobs];
  const { stdout } = await run(process.execPath, ['--expose-gc', '--conditions=source', script, ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return JSON.parse(stdout) as Measured[];
}

it('an export of 64 MiB needs no more memory than an empty one plus the parts in flight', async () => {
  const userId = await newUser(world);
  const content = randomBytes(MIB / 4);
  for (let n = 0; n < 16; n += 1) await storedPaste(world, content, { userId });
  await makePastes(world.db, 240, { status: 'IN_PROGRESS', userId, content });
  const nothing = await newJob(world, 'export', {}, await newUser(world));
  const jobs = ['zip', 'tar.gz', 'ndjson'].map((format) => newJob(world, 'export', { format }, userId));
  for (const { grownBytes, outcome } of await measured(nothing, ...(await Promise.all(jobs)))) {
    expect(outcome).toMatchObject({ status: 'completed', result: { exported: 256 } });
    expect(grownBytes).toBeLessThan(64 * MIB); // measured: 43, of which 24 are parts in flight; 100 if all of it were held
  }
}, 600_000); // about a minute of CPU time, most of it for the collections that precede each measurement

it('an import that inflates to 64 MiB needs no more memory than a batch and the archive', async () => {
  const seed = randomBytes(16 * 1024); // DEFLATE looks back 32 KiB, so each archive has 2 MiB
  const files = Array.from({ length: 256 }, (_, n) => ({
    name: `${n}`,
    content: Buffer.alloc(MIB / 4, seed),
  }));
  const userId = await newUser(world);
  const importOf = async (parameters: object) => newJob(world, 'import', parameters, userId);
  const jobs = [await importOf({ items: [{ content: 'x' }] })];
  for (const source of [tarGzOf(files), zipOf(files)])
    jobs.push(await importOf({ source_short_code: await waitingPaste(world, source) }));
  for (const { grownBytes, outcome } of await measured(...jobs)) {
    expect(outcome).toMatchObject({ status: 'completed', result: { imported: 256 } });
    expect(grownBytes).toBeLessThan(40 * MIB); // measured: 19, of which 8 are a batch; 61 if all of it were held
  }
}, 600_000); // about a minute of CPU time, most of it for the collections that precede each measurement
