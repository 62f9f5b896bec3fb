import { expect, it } from '@jest/globals';
import { cancelJob, retryJob } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { attempt, newJob, newUser } from './support/attempts.ts';
import { pasteCount, waitingPaste } from './support/pastes.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();
const ENTRIES = 500;

/** An import of 500 lines, of which the third is no paste, cancelled after its first batch. */
async function cancelledImport(): Promise<{ id: string; made: number }> {
  const lines = Array.from({ length: ENTRIES }, (_, n) =>
    JSON.stringify({ content: n === 2 ? '' : `entry ${n}` }),
  );
  const source_short_code = await waitingPaste(world, lines.join('\n'));
  const before = await pasteCount(world);
  const id = await newJob(world, 'import', { source_short_code }, await newUser(world));
  let cancelling: Promise<unknown> | undefined;
  await attempt(world, id, {
    onProgress: () => void (cancelling ??= cancelJob(world.db, { jobId: id, actor: 'api', by: 'its owner' })),
  });
  await cancelling;
  return { id, made: (await pasteCount(world)) - before };
}

async function retried(id: string): Promise<string> {
  const retry = await retryJob(world.db, id, null);
  if (retry.kind !== 'created') throw new Error(JSON.stringify(retry));
  return retry.job.id;
}

it('a retry of an import makes each missing paste once, and counts those that were made before', async () => {
  const { id, made } = await cancelledImport();
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThan(ENTRIES - 1);
  const before = await pasteCount(world);
  const { ending } = await attempt(world, await retried(id));
  expect(ending).toMatchObject({
    status: 'partial',
    result: { imported: ENTRIES - 1 - made, imported_earlier: made, failed: 1, errors: [{ position: 2 }] },
  });
  expect((await pasteCount(world)) - before).toBe(ENTRIES - 1 - made);
});

it('a retry makes nothing when the job that it retries was removed', async () => {
  const { id } = await cancelledImport();
  const newId = await retried(id);
  await sql`DELETE FROM jobs WHERE id = ${id}`.execute(world.db);
  const before = await pasteCount(world);
  const { ending } = await attempt(world, newId);
  expect(ending).toMatchObject({
    status: 'failed',
    error: 'A job that this one retries was removed. Create a new job instead.',
  });
  expect(await pasteCount(world)).toBe(before);
});
