import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  answerIdempotencyKey,
  claimIdempotencyKey,
  releaseIdempotencyKey,
  type HeldKey,
  type KeyClaim,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

const hash = (text: string) => createHash('sha256').update(text).digest();

/** A claim of a key that no other test uses. */
function newClaim(): KeyClaim {
  return {
    caller: 'address:192.0.2.1',
    keyHash: hash(randomUUID()),
    claimId: randomUUID(),
    fingerprint: hash('the request'),
    holdSeconds: 15,
    retentionSeconds: 3600,
  };
}

const again = (claim: KeyClaim): KeyClaim => ({ ...claim, claimId: randomUUID() });

const claim = (wanted: KeyClaim) => claimIdempotencyKey(current.db, wanted);
const answer = (held: HeldKey, text: string) => answerIdempotencyKey(current.db, held, Buffer.from(text));
const release = (held: HeldKey) => releaseIdempotencyKey(current.db, held);

async function age(
  { keyHash }: HeldKey,
  column: 'claimed_until' | 'created_at',
  seconds: number,
): Promise<void> {
  await sql`UPDATE idempotency_keys SET ${sql.ref(column)} = ${sql.ref(column)} - make_interval(secs => ${seconds})
    WHERE key_hash = ${keyHash}`.execute(current.db);
}

describe('claiming an idempotency key', () => {
  it('succeeds for one of fifty concurrent requests; the others see the request running', async () => {
    const first = newClaim();
    const claims = await Promise.all(Array.from({ length: 50 }, () => claim(again(first))));
    const kinds = claims.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(['claimed', ...Array<string>(49).fill('running')]);
  });

  it('returns the fingerprint of the first request, and its answer when there is one', async () => {
    const first = newClaim();
    await claim(first);
    const other = { ...again(first), fingerprint: hash('another request') };
    const { fingerprint } = first;
    expect(await claim(other)).toEqual({ kind: 'running', fingerprint, secondsLeft: expect.any(Number) });
    expect(await answer(first, 'made')).toBe(true);
    expect(await claim(other)).toEqual({ kind: 'answered', fingerprint, answer: Buffer.from('made') });
  });

  it('is separate for each caller', async () => {
    const first = newClaim();
    await claim(first);
    expect(await claim({ ...again(first), caller: 'address:192.0.2.2' })).toEqual({ kind: 'claimed' });
  });

  it('claims a key without an answer once its claim has expired, and not before', async () => {
    const first = newClaim();
    await claim(first);
    await age(first, 'claimed_until', 14);
    expect(await claim(again(first))).toMatchObject({ kind: 'running' });
    await age(first, 'claimed_until', 1);
    const second = again(first);
    expect(await claim(second)).toEqual({ kind: 'claimed' });
    expect(await claim(again(first))).toMatchObject({ kind: 'running' });
    expect(await answer(first, 'by the first')).toBe(false);
    expect(await release(first)).toBe(false);
    expect(await answer(second, 'by the second')).toBe(true);
    expect(await claim(again(first))).toMatchObject({ answer: Buffer.from('by the second') });
  });

  it('returns an answer after the claim has expired, until the retention ends', async () => {
    const first = newClaim();
    await claim(first);
    await answer(first, 'old');
    await age(first, 'claimed_until', 3599);
    await age(first, 'created_at', 3599);
    expect(await claim(again(first))).toMatchObject({ kind: 'answered' });
    await age(first, 'created_at', 1);
    expect(await claim(again(first))).toEqual({ kind: 'claimed' });
    expect(await claim(again(first))).toMatchObject({ kind: 'running' });
  });

  it('never returns an answer past its retention, also when another request claims the key at that moment', async () => {
    const first = newClaim();
    await claim(first);
    await answer(first, 'old');
    await age(first, 'created_at', 3600);
    const { promise: waiting, resolve: isWaiting } = Promise.withResolvers<unknown>();
    await current.db.transaction().execute(async (tx) => {
      expect(await claimIdempotencyKey(tx, again(first))).toEqual({ kind: 'claimed' });
      // Its statement has begun, and so has its snapshot, when this one commits
      isWaiting(claim(again(first)));
      const blocked = sql<{ count: number }>`
        SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%idempotency_keys%'`;
      while ((await blocked.execute(current.db)).rows[0]?.count !== 1);
    });
    expect(await waiting).toMatchObject({ kind: 'running' });
  });
});

describe('an idempotency key', () => {
  it('can be claimed again at once after its release', async () => {
    const first = newClaim();
    await claim(first);
    expect(await release(first)).toBe(true);
    expect(await claim(again(first))).toEqual({ kind: 'claimed' });
  });

  it('is not released when it has an answer: the commit succeeded, and only its confirmation was lost', async () => {
    const first = newClaim();
    await claim(first);
    await answer(first, 'made');
    expect(await release(first)).toBe(false);
    expect(await claim(again(first))).toMatchObject({ kind: 'answered' });
  });

  it('gets one answer and no second one', async () => {
    const first = newClaim();
    await claim(first);
    expect([await answer(first, 'first'), await answer(first, 'second')]).toEqual([true, false]);
    expect(await claim(again(first))).toMatchObject({ answer: Buffer.from('first') });
  });
});
