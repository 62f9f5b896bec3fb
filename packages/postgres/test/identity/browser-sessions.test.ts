import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  beginBrowserSession,
  createApiToken,
  endBrowserSession,
  listApiTokens,
  useApiToken,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

async function begin(userName: string, lastsSeconds = 60): Promise<Buffer> {
  const tokenHash = randomBytes(32);
  await beginBrowserSession(current.db, { userName, tokenHash, lastsSeconds });
  return tokenHash;
}

const isGood = async (tokenHash: Buffer) => (await useApiToken(current.db, tokenHash))?.good;

describe('a session of a browser', () => {
  it('is a token of its user that is good until it expires or ends', async () => {
    const [one, other, short] = [await begin('anna'), await begin('anna'), await begin('anna', -1)];
    expect(await useApiToken(current.db, one)).toMatchObject({ good: true, isSession: true });
    expect(await isGood(short)).toBe(false);
    await endBrowserSession(current.db, one);
    await endBrowserSession(current.db, one);
    expect([await isGood(one), await isGood(other)]).toEqual([false, true]);
  });

  it('is no other token of its user', async () => {
    const tokenHash = randomBytes(32);
    await createApiToken(current.db, { userName: 'ben', name: 'laptop', tokenHash, expiresInSeconds: null });
    await endBrowserSession(current.db, tokenHash);
    expect(await useApiToken(current.db, tokenHash)).toMatchObject({ good: true, isSession: false });
  });

  it('removes those of its user that have ended, and no other token', async () => {
    const spent = { userName: 'cleo', name: 'laptop', tokenHash: randomBytes(32), expiresInSeconds: -1 };
    await createApiToken(current.db, spent);
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
    expect(await listApiTokens(current.db, 'emil')).toHaveLength(100);
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
    expect(await listApiTokens(current.db, 'gina')).toHaveLength(50);
  });
});
