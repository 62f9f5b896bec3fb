import { randomBytes } from 'node:crypto';
import { MAX_OWN_TOKENS, type OwnTokenScope } from '@pasteflow/domain';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  beginBrowserSession,
  createApiToken,
  createOwnToken,
  ensureUser,
  findGoodTokens,
  listApiTokens,
  listOwnTokens,
  revokeApiToken,
  revokeOwnToken,
  useApiToken,
} from '../../src/index.ts';
import { revokeTokensOf } from '../../src/identity/api-tokens.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

let users = 0;
const newUser = () => `user ${(users += 1)}`;

/** A token of the operator. */
async function given(userName = newUser(), expiresInSeconds: number | null = null) {
  const tokenHash = randomBytes(32);
  const token = { userName, name: 'given', tokenHash, expiresInSeconds };
  return { ...(await createApiToken(current.db, token)), tokenHash, userName };
}

async function session(userId: string, signedInBy: string | null) {
  const secretHash = randomBytes(32);
  await beginBrowserSession(current.db, { userId, signedInBy, secretHash, lastsSeconds: 3600 });
  return secretHash;
}

async function make(
  userId: string,
  makerHash: Buffer | null,
  { scope = 'write', expiresInSeconds = 3600 }: { scope?: OwnTokenScope; expiresInSeconds?: number } = {},
) {
  const tokenHash = randomBytes(32);
  const wanted = { userId, makerHash, name: 'made', scope, tokenHash, expiresInSeconds };
  return { made: await createOwnToken(current.db, wanted), tokenHash };
}

/** As make, of a token that is made. */
async function made(...args: Parameters<typeof make>) {
  const { made: token, tokenHash } = await make(...args);
  if (typeof token === 'string') throw new Error(token);
  return { ...token, tokenHash };
}

const use = async (hash: Buffer) => await useApiToken(current.db, hash);
const isGood = async (hash: Buffer) => {
  const { good } = (await use(hash))!;
  expect((await findGoodTokens(current.db, [hash])).size).toBe(good ? 1 : 0);
  return good;
};
const ownRows = async (userId: string) =>
  await current.db
    .selectFrom('api_tokens')
    .selectAll()
    .where('user_id', '=', userId)
    .where('scope', '<>', 'full')
    .execute();

/** Resolves when a statement that has this text waits for a lock. */
async function waiting(text: string): Promise<void> {
  for (let left = 2000; left > 0; left -= 1) {
    const { rows } = await sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE ${`%${text}%`}`.execute(current.db);
    if (rows.length > 0) return;
  }
  throw new Error('nobody waits');
}

describe('a token that its user makes', () => {
  it('has its scope, and the token that made it, also through a session', async () => {
    const maker = await given();
    const direct = await made(maker.userId, maker.tokenHash, { scope: 'read' });
    const inBrowser = await made(maker.userId, await session(maker.userId, maker.id));
    const byProvider = await made(maker.userId, await session(maker.userId, null));
    const byAccessToken = await made(maker.userId, null);
    expect(await use(direct.tokenHash)).toMatchObject({ id: direct.id, scope: 'read', good: true });
    const madeBy = Object.fromEntries((await ownRows(maker.userId)).map((row) => [row.id, row.made_by]));
    expect(madeBy).toEqual({
      [direct.id]: maker.id,
      [inBrowser.id]: maker.id,
      [byProvider.id]: null,
      [byAccessToken.id]: null,
    });
  });

  it('ends at the latest with its maker', async () => {
    const maker = await given(newUser(), 600);
    const { expiresAt } = await made(maker.userId, maker.tokenHash, { expiresInSeconds: 3600 });
    expect(expiresAt).toEqual(maker.expiresAt);
    const short = await made(maker.userId, maker.tokenHash, { expiresInSeconds: 60 });
    expect(short.expiresAt!.getTime()).toBeLessThan(maker.expiresAt!.getTime());
  });

  it('makes no token, nor does a browser that it has signed in, which gets no more scope', async () => {
    const maker = await given();
    const own = await made(maker.userId, maker.tokenHash, { scope: 'read' });
    const browser = await session(maker.userId, own.id);
    expect(await use(browser)).toMatchObject({ scope: 'read', good: true });
    for (const hash of [own.tokenHash, browser])
      expect((await make(maker.userId, hash)).made).toBe('refused');
  });

  it('is refused to a maker that has ended, that is unknown, and that is another user’s', async () => {
    const [maker, other] = [await given(), await given()];
    const browser = await session(maker.userId, maker.id);
    await revokeApiToken(current.db, maker.id);
    for (const hash of [maker.tokenHash, browser, randomBytes(32), other.tokenHash])
      expect((await make(maker.userId, hash)).made).toBe('refused');
    expect(await ownRows(maker.userId)).toEqual([]);
  });

  it('ends when its maker is revoked, and with it the browser that it has signed in', async () => {
    const maker = await given();
    const own = await made(maker.userId, maker.tokenHash);
    const browser = await session(maker.userId, own.id);
    expect([await isGood(own.tokenHash), await isGood(browser)]).toEqual([true, true]);
    await revokeApiToken(current.db, maker.id);
    expect([await isGood(own.tokenHash), await isGood(browser)]).toEqual([false, false]);
    const states = (await listApiTokens(current.db, maker.userName))!.map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ['given', 'revoked'],
      ['made', 'revoked'],
      ['browser session', 'revoked'],
    ]);
  });

  it('is shown to operators with its scope and its maker', async () => {
    const maker = await given();
    const own = await made(maker.userId, maker.tokenHash, { scope: 'read' });
    expect(await listApiTokens(current.db, maker.userName)).toMatchObject([
      { id: maker.id, scope: 'full', source: null },
      { id: own.id, scope: 'read', source: maker.id, state: 'good' },
    ]);
  });

  it('ends with all that its user has, also one that a session makes meanwhile', async () => {
    const userId = await ensureUser(current.db, newUser());
    const browser = await session(userId, null);
    let revocation: Promise<number> | undefined;
    await current.db.transaction().execute(async (tx) => {
      // As createOwnToken, with a pause before its commit.
      await sql`SELECT FROM api_tokens WHERE token_hash = ${browser} FOR SHARE`.execute(tx);
      revocation = revokeTokensOf(current.db, userId);
      await waiting('SET revoked_at');
      await tx
        .insertInto('api_tokens')
        .values({
          user_id: userId,
          name: 'made',
          token_hash: randomBytes(32),
          scope: 'write',
          expires_at: sql`now() + interval '1 hour'`,
        })
        .execute();
    });
    expect(await revocation).toBe(2);
    expect((await ownRows(userId)).filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
    expect((await make(userId, browser)).made).toBe('refused');
  });

  it('is not made by a session that is being revoked', async () => {
    const userId = await ensureUser(current.db, newUser());
    const browser = await session(userId, null);
    let creation: ReturnType<typeof make> | undefined;
    await current.db.transaction().execute(async (tx) => {
      await revokeTokensOf(tx, userId);
      creation = make(userId, browser);
      await waiting('FOR SHARE OF t');
    });
    expect((await creation!).made).toBe('refused');
  });
});

describe('the bound of the tokens of a user', () => {
  it('is exact for twenty creations at once, of which the others learn that they lost', async () => {
    const maker = await given();
    const free = 3;
    for (let i = free; i < MAX_OWN_TOKENS; i += 1) await made(maker.userId, maker.tokenHash);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => make(maker.userId, maker.tokenHash)));
    const lost = outcomes.filter((each) => each.made === 'too_many');
    expect(lost).toHaveLength(20 - free);
    expect(await ownRows(maker.userId)).toHaveLength(MAX_OWN_TOKENS);
    for (const { tokenHash } of lost) expect(await use(tokenHash)).toBeNull();
  });

  it('counts the good ones alone, and of the ended ones keeps as many, the newest', async () => {
    const maker = await given();
    const first = await made(maker.userId, maker.tokenHash);
    await revokeOwnToken(current.db, { userId: maker.userId, id: first.id });
    for (let i = 0; i < MAX_OWN_TOKENS; i += 1) {
      const { id } = await made(maker.userId, maker.tokenHash);
      await revokeOwnToken(current.db, { userId: maker.userId, id });
    }
    const last = await made(maker.userId, maker.tokenHash);
    const rows = await ownRows(maker.userId);
    expect(rows).toHaveLength(MAX_OWN_TOKENS + 1);
    expect(rows.some(({ id }) => id === first.id)).toBe(false);
    expect(await isGood(last.tokenHash)).toBe(true);
    expect(await isGood(maker.tokenHash)).toBe(true);
  });
});

describe('the list of one’s own tokens', () => {
  it('has the good ones, newest first, without sessions and those of others', async () => {
    const maker = await given();
    await made((await given()).userId, null);
    const ended = await made(maker.userId, maker.tokenHash);
    const own = await made(maker.userId, maker.tokenHash, { scope: 'read' });
    await session(maker.userId, maker.id);
    await revokeOwnToken(current.db, { userId: maker.userId, id: ended.id });
    const list = await listOwnTokens(current.db, { userId: maker.userId, tokenHash: own.tokenHash });
    expect(list).toEqual([
      {
        id: own.id,
        name: 'made',
        scope: 'read',
        createdAt: expect.any(Date),
        lastUsedAt: null,
        expiresAt: expect.any(Date),
        isThis: true,
      },
      expect.objectContaining({ id: maker.id, scope: 'full', expiresAt: null, isThis: false }),
    ]);
  });
});

describe('a revocation by the user', () => {
  it('is done by one of two at once', async () => {
    const maker = await given();
    const { id, tokenHash } = await made(maker.userId, maker.tokenHash);
    const revoke = () => revokeOwnToken(current.db, { userId: maker.userId, id });
    expect((await Promise.all([revoke(), revoke()])).filter(Boolean)).toEqual([true]);
    expect(await isGood(tokenHash)).toBe(false);
  });

  it('touches neither another user’s token nor a session', async () => {
    const [maker, other] = [await given(), await given()];
    const browser = await session(maker.userId, maker.id);
    const { id } = (await use(browser))!;
    expect(await revokeOwnToken(current.db, { userId: maker.userId, id })).toBe(false);
    expect(await revokeOwnToken(current.db, { userId: maker.userId, id: other.id })).toBe(false);
    expect([await isGood(browser), await isGood(other.tokenHash)]).toEqual([true, true]);
  });
});

it.each([
  ['a full token that a token has made', `scope = 'full'`],
  ['a token of a user without an end', `expires_at = NULL`],
  ['another scope', `scope = 'root'`],
])('Postgres refuses %s', async (_name, change) => {
  const maker = await given();
  const { id } = await made(maker.userId, maker.tokenHash);
  await expect(
    sql`UPDATE api_tokens SET ${sql.raw(change)} WHERE id = ${id}`.execute(current.db),
  ).rejects.toMatchObject({ code: '23514' });
});
