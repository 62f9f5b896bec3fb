import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createApiToken,
  ensureUser,
  isGoodApiToken,
  listApiTokens,
  revokeApiToken,
  useApiToken,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

async function newToken({
  userName = 'alice',
  expiresInSeconds = null,
}: { userName?: string; expiresInSeconds?: number | null } = {}) {
  const tokenHash = randomBytes(32);
  const created = await createApiToken(current.db, {
    userName,
    name: 'laptop',
    tokenHash,
    expiresInSeconds,
  });
  return { ...created, tokenHash };
}

const row = (id: string) =>
  current.db.selectFrom('api_tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const count = async (name: string) =>
  (await current.db.selectFrom('users').select('id').where('name', '=', name).execute()).length;

describe('a user', () => {
  it('is created at the first use of the name, and found afterwards', async () => {
    const id = await ensureUser(current.db, 'bob');
    expect(await ensureUser(current.db, 'bob')).toBe(id);
    expect(await ensureUser(current.db, 'Bob')).not.toBe(id);
  });

  it('is created once by fifty concurrent calls, and each of them gets the user in one statement', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => ensureUser(current.db, 'https://issuer#subject')),
    );
    expect(new Set(ids).size).toBe(1);
    expect(await count('https://issuer#subject')).toBe(1);
  });

  it('is found while another transaction is creating it, once that one commits', async () => {
    let found: Promise<string> | undefined;
    const made = await current.db.transaction().execute(async (tx) => {
      const { id } = await tx
        .insertInto('users')
        .values({ name: 'in the making' })
        .returning('id')
        .executeTakeFirstOrThrow();
      found = ensureUser(current.db, 'in the making');
      await waiting();
      return id;
    });
    expect(await found).toBe(made);
  });

  async function waiting(): Promise<void> {
    for (let left = 1000; left > 0; left -= 1) {
      const { rows } = await sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE '%ensured_user%'`.execute(current.db);
      if (rows.length > 0) return;
    }
    throw new Error('nobody waits');
  }
});

describe('an API token', () => {
  it('belongs to its user, who is created when there is none', async () => {
    const first = await newToken({ userName: 'carol' });
    const second = await newToken({ userName: 'carol' });
    expect(second.userId).toBe(first.userId);
    expect(await count('carol')).toBe(1);
    expect(await useApiToken(current.db, first.tokenHash)).toEqual({
      id: first.id,
      userId: first.userId,
      tokenHash: first.tokenHash,
      isSession: false,
      scope: 'full',
      good: true,
    });
  });

  it('is found only by its whole hash', async () => {
    const { tokenHash } = await newToken();
    expect(await useApiToken(current.db, randomBytes(32))).toBeNull();
    expect(await useApiToken(current.db, tokenHash.subarray(0, 31))).toBeNull();
  });

  it('is good until it expires', async () => {
    const token = await newToken({ expiresInSeconds: 60 });
    expect(token.expiresAt!.getTime() - (await row(token.id)).created_at.getTime()).toBe(60_000);
    expect(await useApiToken(current.db, token.tokenHash)).toMatchObject({ good: true });
    await sql`UPDATE api_tokens SET expires_at = now() WHERE id = ${token.id}`.execute(current.db);
    expect(await useApiToken(current.db, token.tokenHash)).toMatchObject({ good: false });
  });

  it('is good until it is revoked, and is revoked once', async () => {
    const token = await newToken();
    const did = await Promise.all(Array.from({ length: 10 }, () => revokeApiToken(current.db, token.id)));
    expect(did.filter((each) => each === 'revoked')).toHaveLength(1);
    expect(did.filter((each) => each === 'already')).toHaveLength(9);
    expect(await useApiToken(current.db, token.tokenHash)).toMatchObject({ good: false });
    expect(await revokeApiToken(current.db, token.userId)).toBeNull();
  });

  it('is distinguished from another user’s token without a use', async () => {
    const token = await newToken({ userName: 'dave' });
    const good = (userName: string) => isGoodApiToken(current.db, { tokenHash: token.tokenHash, userName });
    expect([await good('dave'), await good('alice')]).toEqual([true, false]);
    await revokeApiToken(current.db, token.id);
    expect(await good('dave')).toBe(false);
    expect((await row(token.id)).last_used_at).toBeNull();
  });

  it('is removed with its user', async () => {
    const token = await newToken({ userName: 'leaver' });
    await current.db.deleteFrom('users').where('name', '=', 'leaver').execute();
    expect(await useApiToken(current.db, token.tokenHash)).toBeNull();
  });
});

describe('the time of last use', () => {
  /** The transaction that wrote the row last: it changes with each write. */
  async function writes(id: string): Promise<string> {
    const { rows } = await sql<{ xmin: string }>`SELECT xmin FROM api_tokens WHERE id = ${id}`.execute(
      current.db,
    );
    return rows[0]!.xmin;
  }

  it('is written by the first use, and again after a minute', async () => {
    const { id, tokenHash } = await newToken();
    expect((await row(id)).last_used_at).toBeNull();
    await useApiToken(current.db, tokenHash);
    const first = await writes(id);
    expect((await row(id)).last_used_at).not.toBeNull();
    await useApiToken(current.db, tokenHash);
    await sql`UPDATE api_tokens SET last_used_at = now() - interval '59 seconds' WHERE id = ${id}`.execute(
      current.db,
    );
    const second = await writes(id);
    expect(second).not.toBe(first);
    await useApiToken(current.db, tokenHash);
    expect(await writes(id)).toBe(second);
    await sql`UPDATE api_tokens SET last_used_at = now() - interval '60 seconds' WHERE id = ${id}`.execute(
      current.db,
    );
    await useApiToken(current.db, tokenHash);
    const { last_used_at } = await row(id);
    expect(Date.now() - last_used_at!.getTime()).toBeLessThan(30_000);
  });

  it('is written once by a hundred concurrent uses', async () => {
    const { id, tokenHash } = await newToken();
    const seen = new Set<string>();
    await sql`CREATE TABLE IF NOT EXISTS noted (id uuid)`.execute(current.db);
    await sql`CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO noted VALUES (NEW.id); RETURN NEW; END $$`.execute(current.db);
    await sql`CREATE TRIGGER note AFTER UPDATE ON api_tokens FOR EACH ROW EXECUTE FUNCTION note()`.execute(
      current.db,
    );
    const uses = await Promise.all(Array.from({ length: 100 }, () => useApiToken(current.db, tokenHash)));
    await sql`DROP TRIGGER note ON api_tokens`.execute(current.db);
    for (const use of uses) seen.add(use!.id);
    expect([...seen]).toEqual([id]);
    const { rows } = await sql`SELECT FROM noted WHERE id = ${id}`.execute(current.db);
    expect(rows).toHaveLength(1);
  });

  it('is not waited for by another use', async () => {
    const { id, tokenHash } = await newToken();
    await current.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM api_tokens WHERE id = ${id} FOR UPDATE`.execute(tx);
      expect(await useApiToken(current.db, tokenHash)).toMatchObject({ good: true });
    });
  });

  it('is not written for a token that is no longer good', async () => {
    const { id, tokenHash } = await newToken({ expiresInSeconds: -1 });
    await useApiToken(current.db, tokenHash);
    expect((await row(id)).last_used_at).toBeNull();
  });
});

describe('the list of tokens', () => {
  it('has the tokens of the user, oldest first, each with its state', async () => {
    const userName = 'lister';
    await newToken({ userName: 'somebody else' });
    const good = await newToken({ userName });
    const expired = await newToken({ userName, expiresInSeconds: -1 });
    const revoked = await newToken({ userName, expiresInSeconds: -1 });
    await revokeApiToken(current.db, revoked.id);
    await useApiToken(current.db, good.tokenHash);
    expect(await listApiTokens(current.db, userName)).toEqual([
      {
        id: good.id,
        name: 'laptop',
        scope: 'full',
        source: null,
        createdAt: expect.any(Date),
        lastUsedAt: expect.any(Date),
        expiresAt: null,
        revokedAt: null,
        state: 'good',
      },
      expect.objectContaining({ id: expired.id, state: 'expired', lastUsedAt: null }),
      expect.objectContaining({ id: revoked.id, state: 'revoked', revokedAt: expect.any(Date) }),
    ]);
  });

  it('is empty for a user without tokens, and null when there is no such user', async () => {
    await ensureUser(current.db, 'empty');
    expect(await listApiTokens(current.db, 'empty')).toEqual([]);
    expect(await listApiTokens(current.db, 'nobody')).toBeNull();
  });
});
