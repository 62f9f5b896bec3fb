import { beforeEach, describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import { assetsOf, attempt, errorOf, newJob, newUser, run } from './support/attempts.ts';
import { archiveOf, filesIn, sha256 } from './support/exports.ts';
import { pasteRow, putObject, storedPaste, waitingPaste } from './support/pastes.ts';
import { keysIn, openUploads, useWorld } from './support/world.ts';

const world = useWorld();
let userId: string;
beforeEach(async () => {
  userId = await newUser(world);
});

const getOf = (shortCode: string) => ({ method: 'GET', path: new RegExp(`${objectKeyOf(shortCode)}\\?`) });

describe('an export of pastes whose content is missing', () => {
  it.each(['zip', 'tar.gz'] as const)('has the others, and says which and why: %s', async (format) => {
    const good = await storedPaste(world, 'good', { userId, createdSecondsAgo: 50 });
    const none = await pasteRow(world, 'PROCESSED', Buffer.from('x'), { userId, createdSecondsAgo: 40 });
    const short = await pasteRow(world, 'PROCESSED', Buffer.from('long'), { userId, createdSecondsAgo: 30 });
    await putObject(world, short, Buffer.from('x'));
    const other = await pasteRow(world, 'PROCESSED', Buffer.from('long'), { userId, createdSecondsAgo: 20 });
    await putObject(world, other, Buffer.from('gnol'));
    const last = await waitingPaste(world, 'last', { userId, createdSecondsAgo: 10 });
    const { ending, result, job } = await run(world, 'export', { format }, { userId });
    expect(ending.status).toBe('partial');
    expect(errorOf(ending)).toBe('The content of 3 of 5 pastes is missing; result.missing says why.');
    const { bytes } = await archiveOf(world, job.jobId);
    expect(result).toEqual({
      exported: 2,
      bytes: bytes.length,
      missing: [
        { short_code: none, reason: 'its object is not in S3' },
        { short_code: short, reason: 'its object has 1 bytes instead of 4' },
        { short_code: other, reason: 'its object is not what was stored: it has another SHA-256' },
      ],
      missing_count: 3,
    });
    expect(await filesIn(format, bytes)).toEqual({
      [`${good}.txt`]: sha256('good'),
      [`${last}.txt`]: sha256('last'),
    });
  });

  it('has the others when S3 fails for one of them only', async () => {
    const bad = await storedPaste(world, 'bad', { userId });
    await storedPaste(world, 'good', { userId });
    world.proxy.rule(getOf(bad), { kind: 'fail', status: 403 });
    const { ending, result } = await run(world, 'export', {}, { userId });
    expect(ending.status).toBe('partial');
    expect(result).toMatchObject({
      exported: 1,
      missing: [
        { short_code: bad, reason: expect.stringMatching(/^S3 does not give its object: S3 answered 403/) },
      ],
    });
  });

  it('is failed when none is left, and leaves neither asset nor object', async () => {
    await pasteRow(world, 'PROCESSED', Buffer.from('x'), { userId });
    const { ending, result, job } = await run(world, 'export', {}, { userId });
    expect(ending.status).toBe('failed');
    expect(result).toMatchObject({ exported: 0, missing_count: 1 });
    expect(await assetsOf(world, job.jobId)).toEqual([]);
    expect(await keysIn(world.store)).toEqual([]);
  });

  it('has FAILED ones among them where they are asked for', async () => {
    const shortCode = await pasteRow(world, 'FAILED', Buffer.from('x'), { userId });
    await storedPaste(world, 'x', { userId });
    const { ending, result } = await run(world, 'export', { status: 'FAILED' }, { userId });
    expect(ending.status).toBe('failed');
    expect(result).toMatchObject({
      exported: 0,
      missing: [{ short_code: shortCode, reason: 'its upload failed, so that it has no content' }],
    });
  });

  it('passes over what is deleted while it runs', async () => {
    const [first, second] = [
      await storedPaste(world, 'first', { userId, createdSecondsAgo: 20 }),
      await storedPaste(world, 'second', { userId, createdSecondsAgo: 10 }),
    ];
    const held = world.proxy.hold(getOf(second));
    const running = run(world, 'export', {}, { userId });
    const request = await held;
    await sql`UPDATE pastes SET expires_at = now() WHERE short_code = ${second}`.execute(world.db);
    await world.store.deleteMany([objectKeyOf(second)]);
    await request.forward();
    const { ending, result, job } = await running;
    expect(ending.status).toBe('completed');
    expect(result).toMatchObject({ exported: 1, missing_count: 0 });
    expect(await filesIn('zip', (await archiveOf(world, job.jobId)).bytes)).toEqual({
      [`${first}.txt`]: sha256('first'),
    });
  });

  it('names a thousand, and counts the others', async () => {
    const { makePastes } = await import('@pasteflow/postgres/testing');
    await makePastes(world.db, 1200, { status: 'FAILED', userId });
    const { result } = await run(world, 'export', { status: 'FAILED' }, { userId });
    expect(result).toMatchObject({ missing_count: 1200 });
    expect(result.missing).toHaveLength(1000);
  });
});

describe('an export while S3', () => {
  it('fails for a moment has everything', async () => {
    const shortCode = await storedPaste(world, 'x', { userId });
    world.proxy.rule(getOf(shortCode), { kind: 'drop' }, 4);
    const { ending } = await run(world, 'export', {}, { userId });
    expect(ending.status).toBe('completed');
  });

  it('is away fails as an attempt, and leaves nothing', async () => {
    await storedPaste(world, 'x', { userId });
    await storedPaste(world, 'y', { userId });
    world.proxy.rule({ method: 'GET', path: /pastes/ }, { kind: 'fail', status: 503 });
    world.proxy.rule({ method: 'HEAD' }, { kind: 'fail', status: 503 });
    const jobId = await newJob(world, 'export', {}, userId);
    const { error } = await attempt(world, jobId);
    expect(error).toMatchObject({ code: 'dependency_unavailable', dependency: 's3' });
    expect(await assetsOf(world, jobId)).toEqual([]);
    expect(await keysIn(world.store, 'jobs/')).toEqual([]);
    expect(await openUploads(world.store)).toEqual([]);
  });
});
