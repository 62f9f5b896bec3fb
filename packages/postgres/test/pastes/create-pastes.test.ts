import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  blockContent,
  createPastes,
  findPaste,
  findRefusal,
  isLockTimeout,
  readPayload,
} from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';
import { pasteToCreate, useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

const paste = pasteToCreate;

async function counts(): Promise<unknown> {
  const { rows } =
    await sql`SELECT (SELECT count(*) FROM pastes) AS pastes, (SELECT count(*) FROM paste_payloads) AS payloads,
    (SELECT count(*) FROM task_executions) AS executions`.execute(current.db);
  return rows[0];
}

it('a group of creations inserts each paste with its own bytes, options and PENDING execution', async () => {
  const [user] = await makeUsers(current.db, 1);
  const pastes = [
    paste({
      content: Buffer.from([0, 255, 92, 39, 0]),
      title: 'a "quoted", {braced} \\ title',
      syntax: 'NULL',
    }),
    paste({ content: randomBytes(70_000), expiresInSeconds: 60 }),
    paste({ content: Buffer.from('x'), userId: user!.id, visibility: 'private' }),
    paste({ deleteTokenHash: randomBytes(32) }),
    paste({ encrypted: true }),
  ];
  const created = await createPastes(current.db, pastes);
  for (const [n, { shortCode, content, contentHash, title, syntax, ...more }] of pastes.entries()) {
    const { id, executionId, createdAt, expiresAt } = created[n]!;
    expect(await readPayload(current.db, id)).toEqual(content);
    expect(await findPaste(current.db, shortCode)).toMatchObject({
      id,
      status: 'IN_PROGRESS',
      content_hash: contentHash,
      size_bytes: content.length,
      title,
      syntax,
      user_id: more.userId,
      visibility: more.visibility,
      encrypted: more.encrypted ?? false,
      delete_token_hash: more.deleteTokenHash,
      created_at: createdAt,
      expires_at: expiresAt,
    });
    expect(expiresAt && expiresAt.getTime() - createdAt.getTime()).toBe(
      more.expiresInSeconds && more.expiresInSeconds * 1000,
    );
    const { rows } = await sql`SELECT id, kind, attempt, status, dispatched_at FROM task_executions
      WHERE subject_id = ${id}`.execute(current.db);
    expect(rows).toEqual([
      { id: executionId, kind: 'upload', attempt: 1, status: 'PENDING', dispatched_at: null },
    ]);
  }
});

it('of two pastes of a group with one short code, the first is created', async () => {
  const twice = paste();
  const created = await createPastes(current.db, [twice, paste({ shortCode: twice.shortCode }), paste()]);
  expect(created.map((row) => row !== null)).toEqual([true, false, true]);
  expect(await readPayload(current.db, created[0]!.id)).toEqual(twice.content);
});

it('a short code that is taken costs only its own creation', async () => {
  const taken = paste();
  await createPastes(current.db, [taken]);
  const created = await createPastes(current.db, [paste({ shortCode: taken.shortCode }), paste(), paste()]);
  expect(created.map((row) => row !== null)).toEqual([false, true, true]);
  const before = (await findPaste(current.db, taken.shortCode))!;
  expect(await readPayload(current.db, before.id)).toEqual(taken.content);
});

it('a row that breaks a constraint leaves nothing of its group behind', async () => {
  const before = await counts();
  const group = [paste(), paste({ userId: randomUUID() }), paste()];
  await expect(createPastes(current.db, group)).rejects.toMatchObject({ code: '23503' });
  expect(await counts()).toEqual(before);
});

it('blocked content costs only its own creation', async () => {
  const group = [paste(), paste({ content: randomBytes(9) }), paste()];
  const by = { actor: 'ops/test', class: 'malware', reason: 'reported' } as const;
  await blockContent(current.db, group[1]!.contentHash, by);
  const created = await createPastes(current.db, group);
  expect(created.map((row) => row !== null)).toEqual([true, false, true]);
  expect(await findPaste(current.db, group[1]!.shortCode)).toBeNull();
  expect(await findRefusal(current.db, group[1]!)).toBe('content_blocked');
});

it('a locked row makes the group fail soon, and leaves nothing of it behind', async () => {
  const [user] = await makeUsers(current.db, 1);
  const before = await counts();
  await current.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM users WHERE id = ${user!.id} FOR UPDATE`.execute(tx);
    const error: unknown = await createPastes(current.db, [paste(), paste({ userId: user!.id })]).catch(
      (failure: unknown) => failure,
    );
    expect(isLockTimeout(error)).toBe(true);
  });
  expect(await counts()).toEqual(before);
});

it('the lock timeout of a group ends with its statement', async () => {
  await current.db.connection().execute(async (connection) => {
    await createPastes(connection, [paste(), paste()]);
    const { rows } = await sql`SELECT current_setting('lock_timeout') AS lock_timeout`.execute(connection);
    expect(rows).toEqual([{ lock_timeout: '0' }]);
  });
});

it('concurrent groups that want the same short codes in different orders do not deadlock', async () => {
  const codes = Array.from({ length: 20 }, () => randomBytes(5).toString('hex'));
  const groups = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? codes : codes.toReversed()));
  const created = await Promise.all(
    groups.map((group) =>
      createPastes(
        current.db,
        group.map((shortCode) => paste({ shortCode })),
        { maxLockWaitMs: 25_000 }, // the groups wait for each other, on a busy machine longer than the default
      ),
    ),
  );
  expect(created.flat().filter((row) => row !== null)).toHaveLength(codes.length);
});
