import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { PasteUploadState } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  claimExpired,
  createPaste,
  ensureUser,
  requestDeletion,
  listPastes,
  settleExecutions,
  uploadSubject,
  type Place,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

const user = (name = 'owner') => ensureUser(current.db, name);

async function newPaste(userId: string | null, status: PasteUploadState = 'IN_PROGRESS') {
  const shortCode = randomBytes(5).toString('hex');
  const created = await createPaste(current.db, {
    userId,
    visibility: userId === null ? 'unlisted' : 'private',
    shortCode,
    content: Buffer.from('x'),
    contentHash: `sha256:${createHash('sha256').update('x').digest('hex')}`,
    title: null,
    syntax: null,
    expiresInSeconds: null,
    deleteTokenHash: null,
  });
  if (status !== 'IN_PROGRESS') await settle(shortCode, status);
  return { ...created!, shortCode };
}

async function settle(shortCode: string, status: 'PROCESSED' | 'FAILED'): Promise<void> {
  const claims = await claimExecutions(current.db, uploadSubject, {
    keys: [shortCode],
    actor: 'w',
    leaseSeconds: 60,
  });
  const claim = claims.get(shortCode);
  if (claim?.kind !== 'claimed') throw new Error(`${shortCode} can't be claimed`);
  const ending =
    status === 'PROCESSED'
      ? { outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' }, nextStep: { kind: 'done' as const } }
      : {
          outcome: { kind: 'failed' as const, error: 'why' },
          nextStep: { kind: 'give_up' as const, reason: 'why' },
        };
  await settleExecutions(
    current.db,
    uploadSubject,
    [{ executionId: claim.execution.executionId, ...ending }],
    {
      actor: 'w',
      dispatched: true,
    },
  );
}

async function codes(
  userId: string,
  status: PasteUploadState | null = null,
  { limit = 100, after = null }: { limit?: number; after?: Place | null } = {},
) {
  const { rows } = await listPastes(current.db, { userId, status }, { limit, after });
  return rows.map(({ short_code }) => short_code);
}

describe('the list of a user’s pastes', () => {
  it('has the pastes of the user, newest first', async () => {
    const owner = await user();
    await newPaste(null);
    await newPaste(await user('somebody else'));
    const made = [];
    for (let n = 0; n < 5; n += 1) made.unshift((await newPaste(owner)).shortCode);
    expect(await codes(owner)).toEqual(made);
  });

  it('has the pastes in one state with a filter, and all without a filter', async () => {
    const owner = await user();
    const states = ['PROCESSED', 'FAILED', 'IN_PROGRESS', 'FAILED', 'PROCESSED', 'IN_PROGRESS'] as const;
    const made = [];
    for (const state of states) made.unshift({ state, code: (await newPaste(owner, state)).shortCode });
    for (const state of ['PROCESSED', 'FAILED', 'IN_PROGRESS'] as const) {
      const wanted = made.filter((each) => each.state === state).map(({ code }) => code);
      expect(await codes(owner, state)).toEqual(wanted);
    }
    expect(await codes(owner)).toEqual(made.map(({ code }) => code));
  });

  it('moves a paste to another filter when its upload settles', async () => {
    const owner = await user();
    const { shortCode } = await newPaste(owner);
    expect(await codes(owner, 'IN_PROGRESS')).toEqual([shortCode]);
    await settle(shortCode, 'PROCESSED');
    expect([await codes(owner, 'IN_PROGRESS'), await codes(owner, 'PROCESSED')]).toEqual([[], [shortCode]]);
  });

  it.each([null, 'IN_PROGRESS', 'PROCESSED', 'FAILED'] as const)(
    'has no expired, claimed or deleted pastes (%s)',
    async (status) => {
      const owner = await user();
      const { id } = await newPaste(owner, status ?? 'PROCESSED');
      expect(await codes(owner, status)).toHaveLength(1);
      await requestDeletion(current.db, id);
      expect(await codes(owner, status)).toEqual([]);
      await claimExpired(current.db, { actor: 'j', limit: 10 });
      expect(await codes(owner, status)).toEqual([]);
    },
  );

  it.each([null, 'IN_PROGRESS', 'PROCESSED', 'FAILED'] as const)(
    'comes in pages without gaps or repeats, also for pastes of the same microsecond (%s)',
    async (status) => {
      const owner = await user();
      for (let n = 0; n < 11; n += 1) await newPaste(owner, status ?? 'PROCESSED');
      for (const table of ['pastes', 'paste_payloads'])
        await sql`UPDATE ${sql.table(table)} SET created_at = '2026-11-21 12:00:00.123456+00'`.execute(
          current.db,
        );
      const all = await codes(owner, status);
      expect(all).toHaveLength(11);
      expect(await pages(owner, status, 4)).toEqual([all.slice(0, 4), all.slice(4, 8), all.slice(8)]);
    },
  );

  it('has no next page after a full last page', async () => {
    const owner = await user();
    for (let n = 0; n < 4; n += 1) await newPaste(owner);
    expect(await pages(owner, null, 2)).toHaveLength(2);
    expect(await pages(owner, null, 4)).toHaveLength(1);
    expect(await pages(await user('empty'), null, 4)).toEqual([[]]);
  });

  it('does not change after a place while pastes before it are created and deleted', async () => {
    const owner = await user();
    const made = [];
    for (let n = 0; n < 6; n += 1) made.unshift(await newPaste(owner));
    const first = await listPastes(current.db, { userId: owner, status: null }, { limit: 3, after: null });
    await newPaste(owner);
    await requestDeletion(current.db, made[0]!.id);
    await requestDeletion(current.db, made[2]!.id); // the very last of the page
    expect(await codes(owner, null, { after: first.next })).toEqual(
      made.slice(3).map(({ shortCode }) => shortCode),
    );
  });

  it('has places in microseconds, which are the same in every time zone of a session', async () => {
    const owner = await user();
    for (let n = 0; n < 3; n += 1) await newPaste(owner);
    const { next } = await listPastes(current.db, { userId: owner, status: null }, { limit: 1, after: null });
    const expected = await codes(owner, null, { after: next });
    await current.db.connection().execute(async (connection) => {
      await sql`SET TIME ZONE 'Asia/Kathmandu'`.execute(connection);
      const there = await listPastes(connection, { userId: owner, status: null }, { limit: 1, after: null });
      expect(there.next!.createdAt).toMatch(/\+05:45$/);
      const { rows } = await listPastes(
        current.db,
        { userId: owner, status: null },
        { limit: 9, after: there.next },
      );
      expect(rows.map(({ short_code }) => short_code)).toEqual(expected);
      await sql`RESET TIME ZONE`.execute(connection);
    });
  });

  async function pages(owner: string, status: PasteUploadState | null, limit: number): Promise<string[][]> {
    const found: string[][] = [];
    let after: Place | null = null;
    do {
      const page: Awaited<ReturnType<typeof listPastes>> = await listPastes(
        current.db,
        { userId: owner, status },
        { limit, after },
      );
      found.push(page.rows.map(({ short_code }) => short_code));
      after = page.next;
    } while (after !== null);
    return found;
  }
});
