import { randomBytes, randomUUID } from 'node:crypto';
import { claimIdempotencyKey } from '@pasteflow/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createExpiredKeys } from '../src/sweeps/old-rows.ts';
import { createWorld, running, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await sql`TRUNCATE idempotency_keys, rate_limits`.execute(world.db);
});

const DAY = 86_400;
const sweep = () => createExpiredKeys({ db: world.janitorDb, idempotencyRetentionSeconds: DAY });

/** Stores the key of a request of that age. @returns its hash */
async function key(secondsAgo: number, { holdSeconds = 15 } = {}): Promise<Buffer> {
  const keyHash = randomBytes(32);
  await claimIdempotencyKey(world.db, {
    caller: 'address:192.0.2.1',
    keyHash,
    claimId: randomUUID(),
    fingerprint: randomBytes(32),
    holdSeconds,
    retentionSeconds: DAY,
  });
  await sql`UPDATE idempotency_keys SET created_at = created_at - make_interval(secs => ${secondsAgo}),
    claimed_until = claimed_until - make_interval(secs => ${secondsAgo}) WHERE key_hash = ${keyHash}`.execute(
    world.db,
  );
  return keyHash;
}

async function counter(name: string, endsInMs: number): Promise<void> {
  await sql`INSERT INTO rate_limits VALUES (${name}, 1, ${Date.now() + endsInMs})`.execute(world.db);
}

describe('expired-keys', () => {
  it('removes keys of requests that came more than 24 hours ago, and no younger key', async () => {
    await key(DAY + 60);
    const young = await key(DAY - 60);
    expect(await sweep().runOnce(running())).toEqual({ keys: 1, counters: 0 });
    const left = await world.db.selectFrom('idempotency_keys').select('key_hash').execute();
    expect(left).toEqual([{ key_hash: young }]);
  });

  it('keeps the key of a running request with any retention', async () => {
    await key(DAY + 60, { holdSeconds: DAY + 120 });
    expect(await sweep().runOnce(running())).toEqual({ keys: 0, counters: 0 });
  });

  it('removes counters whose window ended more than an hour ago, and no others', async () => {
    await counter('requests:ended', -3_660_000);
    await counter('requests:running', -3_540_000);
    expect(await sweep().runOnce(running())).toEqual({ keys: 0, counters: 1 });
    const left = await world.db.selectFrom('rate_limits').select('key').execute();
    expect(left).toEqual([{ key: 'requests:running' }]);
  });

  it('removes more than a batch in one run', async () => {
    await sql`INSERT INTO rate_limits SELECT 'misses:' || n, 1, 1 FROM generate_series(1, 2300) n`.execute(
      world.db,
    );
    expect(await sweep().runOnce(running())).toEqual({ keys: 0, counters: 2300 });
  });

  it('stops between two batches', async () => {
    await key(DAY + 60);
    expect(await sweep().runOnce(AbortSignal.abort())).toEqual({ keys: 0, counters: 0 });
  });
});
