import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  createWebhook,
  ensureUser,
  eraseUser,
  findWebhook,
  finishErasure,
  listWebhooks,
  removeDeliveriesOfRemoved,
  removeRemovedWebhooks,
  removeOwnedRows,
  removeWebhook,
  rotateWebhook,
  startErasure,
  switchOffWebhook,
  switchOnWebhook,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { lockRow } from '../../src/testing/index.ts';
import { useWebhooks, actor, succeeded, url } from '../support/webhooks.ts';

const current = useDatabase();
const bed = useWebhooks(current);

describe('an endpoint', () => {
  it('is its owner’s, and one that an operator has switched off stays so', async () => {
    const bob = await ensureUser(current.db, 'bob');
    const id = await bed.listen(['job.ended']);
    const ofOperators = await bed.listen(['report.opened'], null);
    for (const other of [bob, null]) {
      expect(await findWebhook(current.db, id, other)).toBeNull();
      expect(await rotateWebhook(current.db, id, other)).toBeNull();
      expect(await removeWebhook(current.db, id, other)).toBe(false);
    }
    expect(await findWebhook(current.db, ofOperators, bed.userId)).toBeNull();
    expect((await listWebhooks(current.db, null)).map((each) => each.id)).toEqual([ofOperators]);
    expect(await rotateWebhook(current.db, id, bed.userId)).toMatchObject({
      generation: 2,
      rotatedAt: expect.any(Date),
    });
    await switchOffWebhook(current.db, id);
    expect(await switchOnWebhook(current.db, id, bed.userId)).toMatchObject({ switchedOffFor: 'operator' });
  });

  it('is the last of ten, also of twenty at once', async () => {
    const wanted = { userId: bed.userId, url, events: ['job.ended'] } as const;
    const made = await Promise.all(Array.from({ length: 20 }, () => createWebhook(current.db, wanted)));
    expect(made.filter((each) => each !== null)).toHaveLength(10);
    expect(await createWebhook(current.db, wanted)).toBeNull();
  });

  it('is removed with its deliveries', async () => {
    const id = await bed.listen(['job.ended']);
    await bed.endJob();
    await removeWebhook(current.db, id, bed.userId);
    expect(await removeDeliveriesOfRemoved(current.db, { limit: 10 })).toBe(1);
    expect(await removeRemovedWebhooks(current.db, { limit: 10 })).toBe(0);
    const left = async () => (await sql`SELECT url FROM webhook_endpoints`.execute(current.db)).rows;
    expect(await left()).toEqual([{ url: null }]);
    await sql`UPDATE webhook_endpoints SET removed_at = now() - interval '1 hour'`.execute(current.db);
    expect(await removeRemovedWebhooks(current.db, { limit: 10 })).toBe(1);
    expect(await left()).toEqual([]);
    const { rows } = await sql`SELECT FROM task_executions WHERE kind = 'webhook'`.execute(current.db);
    expect(rows).toEqual([]);
  });

  it('keeps a delivery that is being settled for the next run, and waits for nothing', async () => {
    const id = await bed.listen(['job.ended']);
    await bed.endJob();
    await bed.endJob();
    const [claimed] = (await bed.claim({ limit: 1 })).deliveries;
    await removeWebhook(current.db, id, bed.userId);
    const release = await lockRow(current.db, 'task_executions', claimed!.executionId);
    expect(await removeDeliveriesOfRemoved(current.db, { limit: 10 })).toBe(1);
    await release();
    expect(await removeDeliveriesOfRemoved(current.db, { limit: 10 })).toBe(1);
    await bed.settle(claimed!, succeeded); // finds nothing to end
    const { rows } = await sql`SELECT FROM webhook_deliveries`.execute(current.db);
    expect(rows).toEqual([]);
  });

  it('goes with its user', async () => {
    const id = await bed.listen(['job.ended']);
    await bed.endJob();
    await eraseUser(current.db, bed.userId);
    expect(await findWebhook(current.db, id, bed.userId)).toBeNull();
    expect(await createWebhook(current.db, { userId: bed.userId, url, events: ['job.ended'] })).toBeNull();
    await startErasure(current.db, bed.userId, actor);
    await removeOwnedRows(current.db, bed.userId);
    await sql`DELETE FROM jobs`.execute(current.db);
    expect(await removeDeliveriesOfRemoved(current.db, { limit: 10 })).toBe(1);
    expect(await finishErasure(current.db, bed.userId, actor)).toBe(false);
    await sql`UPDATE webhook_endpoints SET removed_at = now() - interval '1 hour'`.execute(current.db);
    expect(await removeRemovedWebhooks(current.db, { limit: 10 })).toBe(1);
    expect(await finishErasure(current.db, bed.userId, actor)).toBe(true);
    const { rows } =
      await sql`SELECT FROM webhook_deliveries UNION ALL SELECT FROM webhook_endpoints`.execute(current.db);
    expect(rows).toEqual([]);
  });
});
