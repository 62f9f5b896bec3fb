import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  beginBrowserSession,
  createApiToken,
  endBrowserSession,
  endOtherBrowserSessions,
  endOwnBrowserSession,
  ensureUser,
  eraseUser,
  findGoodTokens,
  listApiTokens,
  listBrowserSessions,
  revokeApiToken,
  useApiToken,
} from '../../src/index.ts';
import { revokeTokensOf } from '../../src/identity/api-tokens.ts';
import { useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

/** @param signedInBy the id of the token; null: the identity provider */
async function begin(userName: string, lastsSeconds = 60, signedInBy: string | null = null): Promise<Buffer> {
  const secretHash = randomBytes(32);
  const userId = await ensureUser(current.db, userName);
  await beginBrowserSession(current.db, { userId, signedInBy, secretHash, lastsSeconds });
  return secretHash;
}

async function newToken(userName: string, expiresInSeconds: number | null = null) {
  const tokenHash = randomBytes(32);
  const token = { userName, name: 'laptop', tokenHash, expiresInSeconds };
  return { ...(await createApiToken(current.db, token)), tokenHash };
}

const isGood = async (tokenHash: Buffer) => (await useApiToken(current.db, tokenHash))?.good;

async function sessionsOf(userName: string, secretHash: Buffer | null = null) {
  return await listBrowserSessions(current.db, {
    userId: await ensureUser(current.db, userName),
    secretHash,
  });
}

describe('a session of a browser', () => {
  it('is good until it expires or ends', async () => {
    const [one, other, short] = [await begin('anna'), await begin('anna'), await begin('anna', -1)];
    expect(await useApiToken(current.db, one)).toMatchObject({ good: true, isSession: true });
    expect(await isGood(short)).toBe(false);
    await endBrowserSession(current.db, one);
    await endBrowserSession(current.db, one);
    expect([await isGood(one), await isGood(other)]).toEqual([false, true]);
  });

  it('is no token of its user', async () => {
    const { id, userId, tokenHash } = await newToken('ben');
    await endBrowserSession(current.db, tokenHash);
    await endOwnBrowserSession(current.db, { userId, onlyOf: null, id });
    await endOtherBrowserSessions(current.db, { userId, onlyOf: null, secretHash: null });
    expect(await useApiToken(current.db, tokenHash)).toMatchObject({ good: true, isSession: false });
    expect(await sessionsOf('ben')).toEqual([]);
  });

  it('removes those of its user that have ended, and no token', async () => {
    await newToken('cleo', -1);
    await begin('cleo', -1);
    await endBrowserSession(current.db, await begin('cleo'));
    await begin('dora', -1);
    await begin('cleo');
    expect((await listApiTokens(current.db, 'cleo'))?.map(({ name, state }) => [name, state])).toEqual([
      ['laptop', 'expired'],
      ['browser session', 'good'],
    ]);
    expect(await listApiTokens(current.db, 'dora')).toHaveLength(1);
  });

  it('ends the oldest of a hundred', async () => {
    const hashes: Buffer[] = [];
    for (let count = 0; count < 101; count += 1) hashes.push(await begin('emil'));
    expect([await useApiToken(current.db, hashes[0]!), await isGood(hashes[1]!)]).toEqual([null, true]);
    expect(await sessionsOf('emil')).toHaveLength(100);
  });

  it('ends none that another token, or the identity provider, began', async () => {
    const [one, other] = [await newToken('erik'), await newToken('erik')];
    const others = [await begin('erik'), await begin('erik', 60, one.id)];
    for (let count = 0; count < 101; count += 1) await begin('erik', 60, other.id);
    expect(await Promise.all(others.map(isGood))).toEqual([true, true]);
    expect(await sessionsOf('erik')).toHaveLength(102);
  });

  it('does not wait for a session that another transaction has locked', async () => {
    const locked = await begin('fred', -1);
    await current.db.transaction().execute(async (tx) => {
      await tx.selectFrom('api_tokens').select('id').where('token_hash', '=', locked).forUpdate().execute();
      await begin('fred');
    });
    await begin('fred');
    expect(await listApiTokens(current.db, 'fred')).toHaveLength(2);
  });

  it('begins fifty times at once', async () => {
    await begin('gina', -1);
    const hashes = await Promise.all(Array.from({ length: 50 }, () => begin('gina')));
    expect(new Set(await Promise.all(hashes.map(isGood)))).toEqual(new Set([true]));
    expect(await sessionsOf('gina')).toHaveLength(50);
  });
});

describe('a session that a token began', () => {
  it('ends when the token is revoked, also by plain SQL, and with its row', async () => {
    const [one, other] = [await newToken('hugo'), await newToken('hugo')];
    const [ofOne, ofOther] = [await begin('hugo', 60, one.id), await begin('hugo', 60, other.id)];
    await revokeApiToken(current.db, one.id);
    expect([await isGood(ofOne), await isGood(ofOther)]).toEqual([false, true]);
    expect((await sessionsOf('hugo')).map(({ tokenName }) => tokenName)).toEqual(['laptop']);
    expect((await listApiTokens(current.db, 'hugo'))?.map(({ state }) => state)).toEqual([
      'revoked',
      'good',
      'revoked',
      'good',
    ]);
    await current.db.deleteFrom('api_tokens').where('id', '=', other.id).execute();
    expect(await useApiToken(current.db, ofOther)).toBeNull();
  });

  it('ends when the token expires, if that is earlier', async () => {
    const [soon, late] = [await newToken('ida', 60), await newToken('ida', 9000)];
    await begin('ida', 600, soon.id);
    await begin('ida', 600, late.id);
    const lasts = (await sessionsOf('ida')).map(({ createdAt, expiresAt }) => +expiresAt - +createdAt);
    expect(lasts.map((ms) => Math.round(ms / 10_000))).toEqual([60, 6]);
  });

  it('is not good when it begins after the token was revoked', async () => {
    const { id } = await newToken('jan');
    await revokeApiToken(current.db, id);
    expect(await isGood(await begin('jan', 60, id))).toBe(false);
  });
});

describe('the sessions of a user', () => {
  it('are listed with their use, newest first, and without those that have ended', async () => {
    const [one, other] = [await begin('karl'), await begin('karl')];
    await begin('karl', -1);
    await useApiToken(current.db, one);
    expect(await sessionsOf('karl', one)).toEqual([
      expect.objectContaining({ isThis: false, lastUsedAt: null, tokenName: null }),
      expect.objectContaining({ isThis: true, lastUsedAt: expect.any(Date) }),
    ]);
    await endBrowserSession(current.db, other);
    expect(await sessionsOf('karl')).toHaveLength(1);
  });

  it('are ended one by one or all but one, and only by their user', async () => {
    const [mine, second, third, theirs] = [
      await begin('lea'),
      await begin('lea'),
      await begin('lea'),
      await begin('max'),
    ];
    const userId = await ensureUser(current.db, 'lea');
    const [{ id } = { id: '' }] = await sessionsOf('max');
    await endOwnBrowserSession(current.db, { userId, onlyOf: null, id });
    expect(await isGood(theirs)).toBe(true);
    const [newest] = await sessionsOf('lea');
    await endOwnBrowserSession(current.db, { userId, onlyOf: null, id: newest!.id });
    expect([await isGood(third), await isGood(second)]).toEqual([false, true]);
    await endOtherBrowserSessions(current.db, { userId, onlyOf: null, secretHash: mine });
    expect([await isGood(second), await isGood(mine), await isGood(theirs)]).toEqual([false, true, true]);
  });

  it('end each other at the same time without a deadlock', async () => {
    const hashes = await Promise.all(Array.from({ length: 20 }, () => begin('nora')));
    const userId = await ensureUser(current.db, 'nora');
    await Promise.all(
      hashes.map((secretHash) => endOtherBrowserSessions(current.db, { userId, onlyOf: null, secretHash })),
    );
    expect((await sessionsOf('nora')).length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['the erasure of their user', eraseUser],
    ['the revocation of all tokens', revokeTokensOf],
  ])('end at the same time as %s without a deadlock', async (what, endAll) => {
    const [stored, named] = [await begin(what), await begin(what)];
    const userId = await ensureUser(current.db, what);
    // The session that is stored first gets the second place in the order of the ids.
    await sql`VACUUM FULL api_tokens`.execute(current.db);
    await sql`UPDATE api_tokens SET id = ${`00000000${randomUUID().slice(8)}`} WHERE token_hash = ${named}`.execute(
      current.db,
    );
    const locking = await current.db.startTransaction().execute();
    await sql`SELECT FROM api_tokens WHERE token_hash = ${stored} FOR UPDATE`.execute(locking);
    const endingAll = current.db.transaction().execute(async (tx) => {
      for (const plan of ['indexscan', 'bitmapscan'])
        await sql`SET LOCAL ${sql.ref(`enable_${plan}`)} = off`.execute(tx);
      await endAll(tx, userId);
    });
    await untilSomebodyWaits(current.db);
    const endingSessions = endOtherBrowserSessions(current.db, { userId, onlyOf: null, secretHash: null });
    await untilSomebodyWaits(current.db, 2);
    await locking.commit().execute();
    await Promise.all([endingAll, endingSessions]);
    expect([await isGood(stored), await isGood(named)]).toEqual([false, false]);
  });
});

it('many tokens and sessions are checked by one statement', async () => {
  const [token, spent, session] = [await newToken('olga'), await newToken('olga', -1), await begin('olga')];
  const asked = [token.tokenHash, spent.tokenHash, session, randomBytes(32)];
  expect(await findGoodTokens(current.db, asked)).toEqual(
    new Set([token.tokenHash.toString('hex'), session.toString('hex')]),
  );
});
