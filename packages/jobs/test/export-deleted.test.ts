import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { decideNextStep, defaultRetryPolicy, objectKeyOf } from '@pasteflow/domain';
import {
  claimExecutions,
  claimExpired,
  requestDeletions,
  retryFailed,
  settleDeleted,
  settleExecutions,
  takeDown,
  uploadSubject,
} from '@pasteflow/postgres';
import { sql } from 'kysely';
import { attempt, newJob, newUser } from './support/attempts.ts';
import { archiveOf, filesIn, sha256 } from './support/exports.ts';
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

it('a paste that goes while S3 takes those before it slowly is not in the archive', async () => {
  const large: string[] = [];
  for (const createdSecondsAgo of [70, 60, 50, 40])
    large.push(await storedPaste(world, randomBytes(7 * 1024 * 1024), { userId, createdSecondsAgo }));
  const gone = await storedPaste(world, 'gone', { userId, createdSecondsAgo: 30 });
  const parts = [1, 2, 3].map((n) =>
    world.proxy.hold({ method: 'PUT', path: new RegExp(`[?&]partNumber=${n}&`) }),
  );
  const held = world.proxy.hold({ method: 'GET', path: new RegExp(objectKeyOf(large[3]!)) });
  const running = attempt(world, await newJob(world, 'export', {}, userId));
  const read = await held;
  // The small paste is read before the last large one, so that both are checked together.
  await untilRead(gone);
  await read.forward();
  // Three parts are more than three of the large pastes: the last one is being written.
  const sent = await Promise.all(parts);
  await expire(gone);
  await new Promise((resolve) => setTimeout(resolve, 1100)); // a check holds for a second
  await Promise.all(sent.map((part) => part.forward()));
  const { ending, job } = await running;
  expect(ending).toMatchObject({ status: 'completed', result: { exported: 4, missing_count: 0 } });
  const { bytes } = await archiveOf(world, job.jobId);
  expect(Object.keys(await filesIn('zip', bytes))).toEqual(large.map((code) => `${code}.txt`));
});

describe('a paste whose upload fails and is retried after an export has listed it', () => {
  it.each([
    ['before', 8],
    ['after', 0],
  ])('is in the archive when that happens %s its content is read', async (_when, others) => {
    const first = await storedPaste(world, 'first', { userId, createdSecondsAgo: 50 });
    // An export reads eight pastes at a time.
    for (let n = 0; n < others; n += 1) await storedPaste(world, 'x', { userId, createdSecondsAgo: 40 });
    const moved = await waitingPaste(world, 'moved', { userId, createdSecondsAgo: 30 });
    const last = await storedPaste(world, 'last', { userId, createdSecondsAgo: 20 });
    const held = world.proxy.hold({ method: 'GET', path: new RegExp(objectKeyOf(first)) });
    const running = attempt(world, await newJob(world, 'export', {}, userId));
    const read = await held;
    if (others === 0) await untilRead(last);
    await failAndRetry(moved);
    await read.forward();
    const { ending, job } = await running;
    expect(ending).toMatchObject({
      status: 'completed',
      result: { exported: others + 3, missing_count: 0, left_out: 0 },
    });
    const files = await filesIn('zip', (await archiveOf(world, job.jobId)).bytes);
    expect(files[`${moved}.txt`]).toBe(sha256('moved'));
  });
});

async function failAndRetry(code: string): Promise<void> {
  const by = { actor: 'worker/a', leaseSeconds: 60 };
  const claim = (await claimExecutions(world.db, uploadSubject, { keys: [code], ...by })).get(code);
  if (claim?.kind !== 'claimed') throw new Error('the upload was not claimed');
  const outcome = { kind: 'failed', error: 'S3 answered 503' } as const;
  const nextStep = decideNextStep(outcome, { attempt: 6, losses: 0 }, defaultRetryPolicy, 0.5);
  const { executionId } = claim.execution;
  await settleExecutions(world.db, uploadSubject, [{ executionId, outcome, nextStep }], {
    actor: by.actor,
    dispatched: true,
  });
  const retried = await retryFailed(world.db, [code], { actor: 'ops/a', reason: null });
  if (retried.length !== 1) throw new Error('the upload was not retried');
}

async function untilRead(code: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (
    !world.proxy
      .matching({ method: 'GET', path: new RegExp(objectKeyOf(code)) })
      .some(({ status }) => status !== undefined)
  ) {
    if (performance.now() > deadline) throw new Error('the last paste was not read');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
