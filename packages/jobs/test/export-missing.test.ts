import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { withHeader } from '@pasteflow/dev-stack/testing';
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
  it.each(['zip', 'tar.gz'] as const)(
    'contains the others, and lists the missing ones with reasons: %s',
    async (format) => {
      const good = await storedPaste(world, 'good', { userId, createdSecondsAgo: 50 });
      const none = await pasteRow(world, 'PROCESSED', Buffer.from('x'), { userId, createdSecondsAgo: 40 });
      const short = await pasteRow(world, 'PROCESSED', Buffer.from('long'), {
        userId,
        createdSecondsAgo: 30,
      });
      await putObject(world, short, Buffer.from('x'));
      const other = await pasteRow(world, 'PROCESSED', Buffer.from('long'), {
        userId,
        createdSecondsAgo: 20,
      });
      await putObject(world, other, Buffer.from('gnol'));
      const text = Buffer.alloc(300_000, 'a text that is worth compressing\n');
      const compressed = await pasteRow(world, 'PROCESSED', text, { userId, createdSecondsAgo: 19 });
      await putObject(world, compressed, gzipSync(text), 'gzip');
      const damaged: string[] = [];
      for (const object of [gzipSync(text).subarray(0, -4), gzipSync(text.subarray(1)), text.subarray(1)]) {
        const code = await pasteRow(world, 'PROCESSED', text, {
          userId,
          createdSecondsAgo: 18 - damaged.length,
        });
        await putObject(world, code, object, 'gzip');
        damaged.push(code);
      }
      const last = await waitingPaste(world, 'last', { userId, createdSecondsAgo: 10 });
      const { ending, result, job } = await run(world, 'export', { format }, { userId });
      expect(ending.status).toBe('partial');
      expect(errorOf(ending)).toBe('The content of 6 of 9 pastes is missing; result.missing says why.');
      const { bytes } = await archiveOf(world, job.jobId);
      expect(result).toEqual({
        exported: 3,
        archives: 1,
        bytes: bytes.length,
        missing: [
          { short_code: none, reason: 'its object is not in S3' },
          { short_code: short, reason: 'its object has 1 bytes instead of 4' },
          ...[other, ...damaged].map((short_code) => ({
            short_code,
            reason: 'its object is damaged: its content does not match content_hash',
          })),
        ],
        missing_count: 6,
        left_out: 0,
      });
      expect(await filesIn(format, bytes)).toEqual({
        [`${good}.txt`]: sha256('good'),
        [`${compressed}.txt`]: sha256(text),
        [`${last}.txt`]: sha256('last'),
      });
    },
  );

  it('contains the others when S3 fails for only one', async () => {
    const bad = await storedPaste(world, 'bad', { userId });
    await storedPaste(world, 'good', { userId });
    world.proxy.rule(getOf(bad), { kind: 'fail', status: 403 });
    const { ending, result } = await run(world, 'export', {}, { userId });
    expect(ending.status).toBe('partial');
    expect(result).toMatchObject({
      exported: 1,
      missing: [
        { short_code: bad, reason: expect.stringMatching(/^S3 does not return its object: S3 answered 403/) },
      ],
    });
  });

  it('contains what S3 sends in chunks, without its length, and not what is shorter than it should be', async () => {
    const text = Buffer.alloc(300_000, 'a text that is worth compressing\n');
    const codes: Record<string, string> = {};
    for (const [name, object, encoding] of [
      ['plain', text, null],
      ['compressed', gzipSync(text), 'gzip'],
      ['cut', text.subarray(1), null],
      ['long', Buffer.concat([text, text]), null],
    ] as const) {
      codes[name] = await pasteRow(world, 'PROCESSED', text, { userId });
      await putObject(world, codes[name], object, encoding);
    }
    world.proxy.rule({ method: 'GET', path: /pastes/ }, withHeader('Content-Length', null));
    const { result, job } = await run(world, 'export', {}, { userId });
    expect(result).toMatchObject({ exported: 2, missing_count: 2 });
    const { bytes } = await archiveOf(world, job.jobId);
    expect(await filesIn('zip', bytes)).toEqual({
      [`${codes.plain}.txt`]: sha256(text),
      [`${codes.compressed}.txt`]: sha256(text),
    });
  });

  it('fails when no content is left, without an asset or object', async () => {
    await pasteRow(world, 'PROCESSED', Buffer.from('x'), { userId });
    const { ending, result, job } = await run(world, 'export', {}, { userId });
    expect(ending.status).toBe('failed');
    expect(result).toMatchObject({ exported: 0, missing_count: 1 });
    expect(await assetsOf(world, job.jobId)).toEqual([]);
    expect(await keysIn(world.store)).toEqual([]);
  });

  it('lists FAILED pastes as missing when the status filter requests them', async () => {
    const shortCode = await pasteRow(world, 'FAILED', Buffer.from('x'), { userId });
    await storedPaste(world, 'x', { userId });
    const { ending, result } = await run(world, 'export', { status: 'FAILED' }, { userId });
    expect(ending.status).toBe('failed');
    expect(result).toMatchObject({
      exported: 0,
      missing: [{ short_code: shortCode, reason: 'its upload failed, so it has no content' }],
    });
  });

  it('skips pastes that are deleted while it runs', async () => {
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

  it('lists a thousand missing pastes, and counts all', async () => {
    const { makePastes } = await import('@pasteflow/postgres/testing');
    await makePastes(world.db, 1200, { status: 'FAILED', userId });
    const { result } = await run(world, 'export', { status: 'FAILED' }, { userId });
    expect(result).toMatchObject({ missing_count: 1200 });
    expect(result.missing).toHaveLength(1000);
  });
});

describe('an export when S3', () => {
  it('fails briefly contains everything', async () => {
    const shortCode = await storedPaste(world, 'x', { userId });
    world.proxy.rule(getOf(shortCode), { kind: 'drop' }, 4);
    const { ending } = await run(world, 'export', {}, { userId });
    expect(ending.status).toBe('completed');
  });

  it('is down fails the attempt, and leaves nothing', async () => {
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

describe('an export of pastes that are deleted when they are read', () => {
  it('leaves them out, says how many, and completes', async () => {
    const burn = await storedPaste(world, 'secret', { userId, burn: true });
    const waiting = await waitingPaste(world, 'waiting secret', { userId, burn: true });
    const good = await storedPaste(world, 'good', { userId });
    const { ending, result, job } = await run(world, 'export', { format: 'zip' }, { userId });
    expect([ending.status, result]).toMatchObject([
      'completed',
      { exported: 1, missing_count: 0, left_out: 2 },
    ]);
    const { bytes } = await archiveOf(world, job.jobId);
    expect(await filesIn('zip', bytes)).toEqual({ [`${good}.txt`]: sha256('good') });
    for (const code of [burn, waiting]) expect(bytes.includes(code)).toBe(false);
  });
});
