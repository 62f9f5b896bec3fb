import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  acceptInvitation,
  createOwnToken,
  ensureUser,
  eraseUser,
  findInvitation,
  invite,
  listBrowserSessions,
  removeOldInvitations,
  reportPaste,
  upholdReports,
  useApiToken,
  type Database,
} from '../../src/index.ts';
import { FORBIDDEN_CHANGE_SQLSTATE } from '../../src/database/errors.ts';
import type { ServiceRole } from '../../src/roles/role-names.ts';
import { makePastes } from '../../src/testing/index.ts';
import { open, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';
import { urlOfRole } from '../support/roles.ts';

const current = useDatabase({ fresh: 'file' });
const WEEK_SECONDS = 7 * 24 * 3600;

const opened = new Map<ServiceRole, Database>();

/** As the role of a service. */
function as(role: ServiceRole): Database {
  const db = opened.get(role) ?? open(urlOfRole(current.url, role));
  opened.set(role, db);
  return db;
}

afterAll(async () => {
  for (const db of opened.values()) await db.destroy();
});

const apiDb = () => as('pasteflow_api');
const opsDb = () => as('pasteflow_janitor');

async function invited(userName: string, lastsSeconds = WEEK_SECONDS) {
  const secretHash = randomBytes(32);
  const userId = await ensureUser(opsDb(), userName);
  const made = await invite(opsDb(), { userId, secretHash, lastsSeconds });
  return { userId, secretHash, made };
}

async function accept(secretHash: Buffer, sessionHash = randomBytes(32), db = apiDb()) {
  return { sessionHash, userId: await acceptInvitation(db, { secretHash, sessionHash, lastsSeconds: 3600 }) };
}

const isGood = async (tokenHash: Buffer) => (await useApiToken(apiDb(), tokenHash))?.good;

const isOpen = async (secretHash: Buffer) => (await findInvitation(apiDb(), secretHash))?.isOpen;

describe('an invitation', () => {
  it('is accepted once, and begins a session with all rights of its user', async () => {
    const { userId, secretHash, made } = await invited('anna');
    expect(made).toEqual({ expiresAt: expect.any(Date), ended: 0 });
    expect(await findInvitation(apiDb(), secretHash)).toEqual({ userId, userName: 'anna', isOpen: true });
    const first = await accept(secretHash);
    expect(first.userId).toBe(userId);
    expect(await useApiToken(apiDb(), first.sessionHash)).toMatchObject({
      userId,
      good: true,
      isSession: true,
      scope: 'full',
    });
    expect((await accept(secretHash)).userId).toBeNull();
    expect(await isOpen(secretHash)).toBe(false);
    const listed = await listBrowserSessions(apiDb(), { userId, secretHash: null });
    expect(listed).toMatchObject([{ tokenName: null, byInvitation: true }]);
  });

  it('that is unknown or has expired begins nothing', async () => {
    expect(await findInvitation(apiDb(), randomBytes(32))).toBeNull();
    expect((await accept(randomBytes(32))).userId).toBeNull();
    const { secretHash } = await invited('ben', -1);
    expect(await isOpen(secretHash)).toBe(false);
    expect((await accept(secretHash)).userId).toBeNull();
  });

  it('begins one session when ten accept it at once', async () => {
    const { secretHash, userId } = await invited('cora');
    const locking = await current.db.startTransaction().execute();
    await sql`SELECT FROM invitations WHERE secret_hash = ${secretHash} FOR UPDATE`.execute(locking);
    const accepting = Array.from({ length: 10 }, () => accept(secretHash));
    await untilSomebodyWaits(current.db, 10);
    await locking.commit().execute();
    const accepted = await Promise.all(accepting);
    expect(accepted.filter((each) => each.userId !== null)).toHaveLength(1);
    expect(await listBrowserSessions(apiDb(), { userId, secretHash: null })).toHaveLength(1);
  });

  it('ends the one before of the same user, and the session that it has begun', async () => {
    const [first, other] = [await invited('dora'), await invited('emil')];
    const { sessionHash } = await accept(first.secretHash);
    const { sessionHash: ofOther } = await accept(other.secretHash);
    const second = await invited('dora');
    expect(second.made?.ended).toBe(1);
    expect([await isGood(sessionHash), await isGood(ofOther)]).toEqual([false, true]);
    const third = await invited('dora');
    expect(third.made?.ended).toBe(0);
    expect([await isOpen(second.secretHash), await isOpen(third.secretHash)]).toEqual([false, true]);
    expect((await accept(second.secretHash)).userId).toBeNull();
  });

  it('ends the session of an acceptance for which it waits', async () => {
    const { secretHash, userId } = await invited('fritz');
    const accepting = await current.db.startTransaction().execute();
    const { sessionHash } = await accept(secretHash, randomBytes(32), accepting);
    const inviting = invite(opsDb(), {
      userId,
      secretHash: randomBytes(32),
      lastsSeconds: WEEK_SECONDS,
    });
    await untilSomebodyWaits(current.db);
    await accepting.commit().execute();
    expect((await inviting)?.ended).toBe(1);
    expect(await isGood(sessionHash)).toBe(false);
  });

  it('that ends all tokens also ends the one that a session makes meanwhile', async () => {
    const { secretHash, userId } = await invited('frida');
    const { sessionHash } = await accept(secretHash);
    const made = randomBytes(32);
    const making = await current.db.startTransaction().execute();
    // As createOwnToken, with a pause before its commit.
    await sql`SELECT FROM api_tokens WHERE token_hash = ${sessionHash} FOR SHARE`.execute(making);
    const inviting = invite(opsDb(), {
      userId,
      secretHash: randomBytes(32),
      lastsSeconds: WEEK_SECONDS,
      endsAll: true,
    });
    await untilSomebodyWaits(current.db);
    const own = { user_id: userId, name: 'made', token_hash: made, scope: 'write' } as const;
    await making
      .insertInto('api_tokens')
      .values({ ...own, expires_at: sql`now() + interval '1 hour'` })
      .execute();
    await making.commit().execute();
    expect((await inviting)?.ended).toBe(2);
    expect([await isGood(sessionHash), await isGood(made)]).toEqual([false, false]);
  });

  it('of two that are made at once one is open', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => invited('gerda')));
    const states = await Promise.all(made.map(({ secretHash }) => isOpen(secretHash)));
    expect(states.filter((each) => each === true)).toHaveLength(1);
  });

  it('is refused to a user who is erased meanwhile, and so is its acceptance', async () => {
    const { secretHash, userId } = await invited('hugo');
    const erasing = await current.db.startTransaction().execute();
    await eraseUser(erasing, userId);
    const [accepting, inviting] = [
      accept(secretHash),
      invite(opsDb(), { userId, secretHash: randomBytes(32), lastsSeconds: WEEK_SECONDS }),
    ];
    await untilSomebodyWaits(current.db, 2);
    await erasing.commit().execute();
    expect([(await accepting).userId, await inviting]).toEqual([null, null]);
    expect(await isOpen(secretHash)).toBe(false);
  });

  it('lets its session make tokens, which outlast the session', async () => {
    const { secretHash, userId } = await invited('ines');
    const { sessionHash } = await accept(secretHash);
    const tokenHash = randomBytes(32);
    const token = { name: 'backup', scope: 'read', expiresInSeconds: 3600 } as const;
    const made = await createOwnToken(apiDb(), { ...token, userId, makerHash: sessionHash, tokenHash });
    expect(made).toMatchObject({ name: 'backup' });
    await invited('ines');
    expect([await isGood(sessionHash), await isGood(tokenHash)]).toEqual([false, true]);
  });

  it('is accepted by no service twice, and read by no operator', async () => {
    const { secretHash } = await invited('jan');
    await accept(secretHash);
    const reopening = sql`UPDATE invitations SET accepted_at = NULL WHERE secret_hash = ${secretHash}`;
    await expect(reopening.execute(apiDb())).rejects.toMatchObject({ code: FORBIDDEN_CHANGE_SQLSTATE });
    await expect(sql`SELECT secret_hash FROM invitations`.execute(opsDb())).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('is removed after the retention', async () => {
    const { secretHash } = await invited('kira', -100);
    const remove = async (retentionSeconds: number) =>
      await removeOldInvitations(opsDb(), { retentionSeconds, limit: 10 });
    expect(await remove(200)).toBe(0);
    expect(await remove(50)).toBe(1);
    expect(await findInvitation(apiDb(), secretHash)).toBeNull();
  });
});

describe('the end of all tokens of a user, with a report that is upheld,', () => {
  const reported = async (userId: string) => {
    const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED', userId });
    const report = { class: 'spam', text: 'spam', contact: null, reporter: '192.0.2.1' } as const;
    expect(await reportPaste(current.db, paste!.id, report, null)).toBe('recorded');
    return paste!.shortCode;
  };
  const uphold = (shortCode: string) =>
    upholdReports(opsDb(), shortCode, { actor: 'ops/test', class: 'spam', reason: 'r', endTokens: true });

  it('ends the open invitation, too', async () => {
    const { userId, secretHash } = await invited('spammer');
    await uphold(await reported(userId));
    expect(await isOpen(secretHash)).toBe(false);
    expect((await accept(secretHash)).userId).toBeNull();
  });

  it('ends the session of an acceptance for which it waits', async () => {
    const { userId, secretHash } = await invited('fast spammer');
    const code = await reported(userId);
    let upheld: Promise<unknown> | undefined;
    const { sessionHash } = await apiDb()
      .transaction()
      .execute(async (tx) => {
        const accepted = await accept(secretHash, undefined, tx);
        upheld = uphold(code);
        await untilSomebodyWaits(current.db);
        return accepted;
      });
    expect(await upheld).toMatchObject({ tokens: 1 });
    expect(await isGood(sessionHash)).toBe(false);
  });
});
