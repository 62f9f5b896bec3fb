import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Database } from '@pasteflow/postgres';
import { until, useBench } from '../support/bench.ts';
import { allEnded, useWebhooks } from '../support/webhooks.ts';

const bench = useBench();
const webhooks = useWebhooks(bench);

interface Silent {
  readonly endpoint: Awaited<ReturnType<typeof webhooks.listen>>;
  readonly waiting: readonly ServerResponse[];
  readonly answerAll: () => void;
}

/** An endpoint that answers when `answerAll` is called. */
async function silent(userId?: string): Promise<Silent> {
  const waiting: ServerResponse[] = [];
  const endpoint = await webhooks.listen({
    ...(userId && { userId }),
    answer: (res) => void waiting.push(res),
  });
  const answerAll = (): void => {
    for (const res of waiting.splice(0)) res.writeHead(204).end();
  };
  return { endpoint, waiting, answerAll };
}

/** Answers whatever comes, until each endpoint has had `count` deliveries, and each of them once. */
async function drain(endpoints: readonly Silent[], count: number): Promise<void> {
  const answering = setInterval(() => endpoints.forEach(({ answerAll }) => answerAll()), 10);
  try {
    for (const { endpoint } of endpoints) await webhooks.untilDeliveries(endpoint, allEnded(count));
  } finally {
    clearInterval(answering);
  }
  for (const { endpoint } of endpoints) expect(endpoint.received).toHaveLength(count);
}

const held = (endpoints: readonly Silent[]): readonly number[] =>
  endpoints.map(({ waiting }) => waiting.length);
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('an endpoint that does not answer', () => {
  it('delays nobody else’s: it has four deliveries at a time, and its user eight', async () => {
    const slow = [await silent(), await silent(), await silent()];
    const [lonely, busy] = [await webhooks.newUser(), await webhooks.newUser()];
    const alone = await silent(lonely);
    const other = await webhooks.listen({ userId: busy });
    await webhooks.start();
    for (const userId of [bench.userId, lonely])
      for (let n = 0; n < 10; n += 1) await webhooks.endJob(userId);
    await until(
      async () => [alone.waiting.length, sum(held(slow))],
      ([ofOne, ofUser]) => ofOne === 4 && ofUser === 8,
    );
    for (let n = 0; n < 30; n += 1) await webhooks.endJob(busy);
    await webhooks.untilDeliveries(other, allEnded(30));
    expect([alone.waiting.length, sum(held(slow))]).toEqual([4, 8]);
    expect(Math.max(...held(slow))).toBeLessThanOrEqual(4);
    slow.push(alone);
    await drain(slow, 10);
  });

  it('takes nobody’s turn: when a hundred deliveries run, the next place is for the next user', async () => {
    const users = await Promise.all(Array.from({ length: 14 }, () => webhooks.newUser()));
    const slow: Silent[] = [];
    for (const userId of users.toSorted()) slow.push(await silent(userId), await silent(userId));
    for (const userId of users) for (let n = 0; n < 8; n += 1) await webhooks.endJob(userId);
    await webhooks.start();
    const full = (): Promise<number> =>
      until(
        async () => sum(held(slow)),
        (running) => running === 100,
      );
    await full();
    const last = slow.slice(-2);
    expect(sum(held(last))).toBe(0);
    for (const first of slow.slice(0, 2)) first.answerAll();
    await full();
    expect(sum(held(last))).toBeGreaterThan(0);
    await drain(slow, 8);
  });
});

describe('a user with 10,000 due deliveries', () => {
  it('delays another user by no more than one round', async () => {
    const [rich, poor] = [await webhooks.newUser(), await webhooks.newUser()];
    const flooded = await webhooks.listen({ userId: rich });
    const other = await webhooks.listen({ userId: poor });
    await makeDue(bench.db, { endpointId: flooded.id, userId: rich, count: 10_000 });
    await webhooks.start({ webhooks: { pollMs: 600_000 } }); // so that a delivery which ends makes room for the next
    for (let round = 1; round <= 5; round += 1) {
      await until(
        async () => flooded.received.length,
        (count) => count >= round * 20,
      );
      await webhooks.endJob(poor);
      const since = await clock(bench.db);
      await webhooks.untilDeliveries(other, allEnded(round));
      const turn = await lastClaim(bench.db, other.id);
      const meanwhile = await bench.db
        .selectFrom('task_executions')
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .where('endpoint_id', '=', flooded.id)
        .where('started_at', '>', since)
        .where('started_at', '<', turn)
        .executeTakeFirstOrThrow();
      expect(Number(meanwhile.count)).toBeLessThanOrEqual(8);
    }
    expect(flooded.received.length).toBeLessThan(10_000);
  });
});

async function makeDue(
  db: Database,
  {
    endpointId,
    userId,
    count,
  }: { readonly endpointId: string; readonly userId: string; readonly count: number },
): Promise<void> {
  for (let made = 0; made < count; made += 1000) {
    const ids = Array.from({ length: 1000 }, () => randomUUID());
    const deliveries = ids.map((id) => ({
      id,
      endpoint_id: endpointId,
      user_id: userId,
      event_id: randomUUID(),
      type: 'job.ended' as const,
      about: id,
      occurrence: id,
    }));
    await db.insertInto('webhook_deliveries').values(deliveries).execute();
    const executions = ids.map((id) => ({
      kind: 'webhook' as const,
      subject_id: id,
      user_id: userId,
      endpoint_id: endpointId,
      attempt: 1,
    }));
    await db.insertInto('task_executions').values(executions).execute();
  }
}

async function clock(db: Database): Promise<Date> {
  const query = db.selectNoFrom(({ fn }) => fn<Date>('clock_timestamp').as('now'));
  return (await query.executeTakeFirstOrThrow()).now;
}

async function lastClaim(db: Database, endpointId: string): Promise<Date> {
  const { at } = await db
    .selectFrom('task_executions')
    .select(({ fn }) => fn.max('started_at').as('at'))
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirstOrThrow();
  if (at === null) throw new Error('nothing was claimed');
  return at;
}
