import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { newJob, newUser } from './support/attempts.ts';
import { storedPaste, waitingPaste } from './support/pastes.ts';
import { tarGzOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf } from './support/zip.ts';

const world = useWorld();
const run = promisify(execFile);
const MIB = 1024 * 1024;
const MOST_GROWN_BYTES = 150 * MIB;

/** Runs the jobs one after the other in a process of its own. @returns how the last ended, and by how much memory it grew at most */
async function measured(...jobs: string[]): Promise<{ grownBytes: number; outcome: unknown }> {
  const script = new URL('support/measured-job.ts', import.meta.url).pathname;
  const args = [world.databaseUrl, world.proxy.url, String(16 * MIB), ...jobs];
  const { stdout } = await run(process.execPath, ['--conditions=source', script, ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return JSON.parse(stdout) as { grownBytes: number; outcome: unknown };
}

describe('an export of 100 MiB', () => {
  it.each(['zip', 'tar.gz', 'ndjson'])(
    'takes no more memory than one of nothing, but for what is under way: %s',
    async (format) => {
      const userId = await newUser(world);
      const content = randomBytes(MIB);
      for (let n = 0; n < 100; n += 1) {
        content.writeUInt32LE(n);
        await storedPaste(world, content, { userId });
      }
      const nothing = await newJob(world, 'export', { format }, await newUser(world));
      const { grownBytes, outcome } = await measured(
        nothing,
        await newJob(world, 'export', { format }, userId),
      );
      expect(outcome).toMatchObject({ status: 'completed', result: { exported: 100 } });
      expect(grownBytes).toBeLessThan(MOST_GROWN_BYTES);
    },
    120_000,
  );
});

describe('an import that inflates to 200 MiB', () => {
  const seed = randomBytes(16 * 1024); // DEFLATE looks back 32 KiB: the archives have 6 MiB
  const files = Array.from({ length: 200 }, (_, n) => {
    const content = Buffer.alloc(MIB, seed);
    content.writeUInt32LE(n);
    return { name: `${n}`, content };
  });

  it.each([
    ['a tar.gz', () => tarGzOf(files)],
    ['a zip', () => zipOf(files)],
  ])(
    'takes no more memory than a batch and the archive: %s',
    async (_, make) => {
      const userId = await newUser(world);
      const source = await waitingPaste(world, make());
      const little = await newJob(world, 'import', { items: [{ content: 'x' }] }, userId);
      const { grownBytes, outcome } = await measured(
        little,
        await newJob(world, 'import', { source_short_code: source }, userId),
      );
      expect(outcome).toMatchObject({ status: 'completed', result: { imported: 200 } });
      expect(grownBytes).toBeLessThan(MOST_GROWN_BYTES);
    },
    120_000,
  );
});
