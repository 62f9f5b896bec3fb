import { beforeEach, describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { claimExpired, requestDeletions, settleDeleted, takeDown } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { attempt, newJob, newUser } from './support/attempts.ts';
import { archiveOf, filesIn } from './support/exports.ts';
import { storedPaste, waitingPaste } from './support/pastes.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();
let userId: string;
beforeEach(async () => {
  userId = await newUser(world);
});

const expire = (code: string) =>
  sql`UPDATE pastes SET expires_at = now() WHERE short_code = ${code}`.execute(world.db);

const ways: Readonly<Record<string, (code: string) => Promise<unknown>>> = {
  'deleted by its owner': (code) => requestDeletions(world.db, { userId, shortCodes: [code] }),
  'taken down': (code) => takeDown(world.db, [code], { actor: 'ops/a', class: 'other', reason: 'report' }),
  expired: expire,
  'claimed by a cleanup': async (code) => {
    await expire(code);
    await claimExpired(world.db, { actor: 'janitor/a', limit: 10 });
  },
  'deleted by a cleanup': async (code) => {
    await expire(code);
    await settleDeleted(
      world.db,
      await claimExpired(world.db, { actor: 'janitor/a', limit: 10 }),
      'janitor/a',
    );
  },
  removed: (code) => sql`DELETE FROM pastes WHERE short_code = ${code}`.execute(world.db),
};

/** A cleanup waits for the end of an upload. */
const waiting = Object.keys(ways).filter((way) => !way.includes('cleanup'));

describe.each([
  ['stored', Object.keys(ways)],
  ['waiting', waiting],
] as const)('a paste that is %s when an export reads it', (where, waysOf) => {
  it.each(waysOf)('and that is %s before it is written is not in the archive', async (way) => {
    const first = await storedPaste(world, 'first', { userId, createdSecondsAgo: 50 });
    const create = where === 'stored' ? storedPaste : waitingPaste;
    const gone = await create(world, 'gone', { userId, createdSecondsAgo: 40 });
    const last = await storedPaste(world, 'last', { userId, createdSecondsAgo: 30 });
    const held = world.proxy.hold({ method: 'GET', path: new RegExp(objectKeyOf(first)) });
    const running = attempt(world, await newJob(world, 'export', {}, userId));
    const read = await held;
    // The last paste is read after the one that goes, while the first keeps both from being written.
    await untilRead(last);
    await ways[way]!(gone);
    await read.forward();
    const { ending, job } = await running;
    expect(ending).toMatchObject({
      status: 'completed',
      result: { exported: 2, missing_count: 0, left_out: 0 },
    });
    const { bytes } = await archiveOf(world, job.jobId);
    expect(Object.keys(await filesIn('zip', bytes))).toEqual([`${first}.txt`, `${last}.txt`]);
  });
});

async function untilRead(code: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!world.proxy.requests.some(({ path }) => path.includes(objectKeyOf(code)))) {
    if (performance.now() > deadline) throw new Error('the last paste was not read');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
