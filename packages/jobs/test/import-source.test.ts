import { describe, expect, it } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { findPaste } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { readContent } from '../src/read-content.ts';
import { assetsOf, attempt, errorOf, giveUp, newJob, newUser, run } from './support/attempts.ts';
import { importedBy, pasteRow, putObject, storedPaste, waitingPaste } from './support/pastes.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();
const NDJSON = '{"content":"x"}';

async function importOf(shortCode: string, userId?: string) {
  const { ending, result } = await run(
    world,
    'import',
    { source_short_code: shortCode },
    { userId: userId ?? (await newUser(world)) },
  );
  return { status: ending.status, error: errorOf(ending), result };
}

describe('the source paste of an import', () => {
  it("may be any unlisted paste, or the user's own private one", async () => {
    const userId = await newUser(world);
    const own = await storedPaste(world, NDJSON, { userId, visibility: 'private' });
    const others = await storedPaste(world, NDJSON, { userId: await newUser(world) });
    const anonymous = await waitingPaste(world, NDJSON);
    for (const shortCode of [own, others, anonymous])
      expect(await importOf(shortCode, userId)).toMatchObject({ status: 'completed' });
  });

  it("may not be another user's private paste, which is reported as not existing", async () => {
    const userId = await newUser(world);
    const facts = { userId, visibility: 'private' } as const;
    const live = await storedPaste(world, NDJSON, facts);
    const expired = await storedPaste(world, NDJSON, { ...facts, expiresInSeconds: -5 });
    const failed = await pasteRow(world, 'FAILED', Buffer.from(NDJSON));
    for (const shortCode of [live, expired, failed, 'unknown'])
      expect(await importOf(shortCode)).toEqual({
        status: 'failed',
        error: `There is no paste ${shortCode}.`,
        result: { imported: 0, failed: 0, errors: [] },
      });
  });

  it('must not be deleted when it is read, and stays unread', async () => {
    const shortCode = await storedPaste(world, NDJSON, { burn: true });
    expect(await importOf(shortCode)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('is deleted when it is read'),
    });
    expect(await findPaste(world.db, shortCode)).toMatchObject({ burned_at: null });
  });

  it('must not be held by reports, except from its owner', async () => {
    const userId = await newUser(world);
    const shortCode = await storedPaste(world, NDJSON, { userId });
    await sql`UPDATE pastes SET held_at = now() WHERE short_code = ${shortCode}`.execute(world.db);
    expect(await importOf(shortCode)).toMatchObject({
      status: 'failed',
      error: `The paste ${shortCode} is held until an operator has judged its reports. Import it later.`,
    });
    expect(await importOf(shortCode, userId)).toMatchObject({ status: 'completed' });
  });

  it('must not have expired', async () => {
    const shortCode = await storedPaste(world, NDJSON, { expiresInSeconds: -5 });
    expect(await importOf(shortCode)).toMatchObject({
      status: 'failed',
      error: `The paste ${shortCode} has expired or was deleted.`,
    });
  });

  it('is read from S3 when its upload ends in the meantime', async () => {
    const shortCode = await storedPaste(world, NDJSON);
    const { id, content_hash: contentHash } = (await findPaste(world.db, shortCode))!;
    const stale = { id, shortCode, status: 'IN_PROGRESS', contentHash, sizeBytes: NDJSON.length } as const;
    const signal = new AbortController().signal;
    expect(await readContent(world, stale, signal)).toEqual({
      kind: 'content',
      content: Buffer.from(NDJSON),
    });
    await sql`UPDATE pastes SET expires_at = now() WHERE short_code = ${shortCode}`.execute(world.db);
    expect(await readContent(world, stale, signal)).toEqual({ kind: 'gone' });
  });

  it('is read again by the next attempt when its object is missing or damaged', async () => {
    const missing = await pasteRow(world, 'PROCESSED', Buffer.from(NDJSON));
    const damaged = await pasteRow(world, 'PROCESSED', Buffer.from(NDJSON));
    await putObject(world, damaged, Buffer.from(NDJSON.replace('x', 'y')));
    await expect(importOf(missing)).rejects.toThrow(
      `The paste ${missing} cannot be read: its object is not in S3.`,
    );
    await expect(importOf(damaged)).rejects.toThrow('its content does not match content_hash');
  });

  it('is read again by the next attempt when S3 does not answer', async () => {
    const shortCode = await storedPaste(world, NDJSON);
    world.proxy.rule(
      { method: 'GET', path: new RegExp(objectKeyOf(shortCode)) },
      { kind: 'fail', status: 500 },
      8,
    );
    expect(await importOf(shortCode)).toMatchObject({ status: 'completed' });
    world.proxy.rule(
      { method: 'GET', path: new RegExp(objectKeyOf(shortCode)) },
      { kind: 'fail', status: 500 },
    );
    await expect(importOf(shortCode)).rejects.toMatchObject({
      code: 'dependency_unavailable',
      dependency: 's3',
    });
  });

  it('may be gone at a later attempt, and the created pastes stay', async () => {
    const lines = Array.from({ length: 150 }, (_, n) => JSON.stringify({ content: `line ${n}` }));
    const shortCode = await waitingPaste(world, lines.join('\n'));
    const jobId = await newJob(world, 'import', { source_short_code: shortCode }, await newUser(world));
    const stop = new AbortController();
    await giveUp(world, await attempt(world, jobId, { signal: stop.signal, onProgress: () => stop.abort() }));
    await sql`UPDATE pastes SET expires_at = now() WHERE short_code = ${shortCode}`.execute(world.db);
    const { ending } = await attempt(world, jobId);
    expect(ending).toEqual({
      status: 'partial',
      result: { imported: 100, failed: 0, errors: [] },
      error: `The paste ${shortCode} has expired or was deleted.`,
    });
    expect(await assetsOf(world, jobId)).toHaveLength(100);
    expect(await importedBy(world, jobId)).toHaveLength(100);
  });
});
