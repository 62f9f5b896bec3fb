import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  claimDeliveries,
  deliverySubject,
  findStranded,
  findZombies,
  listDeliveriesTo,
  removeDeliveriesOfRemoved,
  removeOldDeliveries,
  sendAgain,
  settleExecutions,
  type Database,
  type DeliveryPlace,
} from '../../src/index.ts';
import { openToFill } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { MAX_GROWTH } from '../support/scale.ts';
import { succeeded } from '../support/webhooks.ts';

/** As many deliveries wait for each of the endpoints, of which each has a user. */
const WAITING_OF_EACH = 100;
const FEW = 10;
const MANY = 1000;
const CLAIMED = 40;
/** The pages of an index row and its table row, for each endpoint that a claim looks at: 256 at most. */
const PAGES_OF_ENDPOINT = 4;
const MAX_ENDPOINTS = 256;

interface Scene {
  readonly url: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly executionId: string;
  /** All places of a worker are taken, for each of its users. */
  readonly busy: readonly DeliveryPlace[];
}

let stack: TestPostgres;
let small: Scene;
let large: Scene;
beforeAll(async () => {
  stack = await startTestPostgres();
  small = await makeScene(FEW);
  large = await makeScene(MANY);
}, 600_000);
afterAll(() => stack?.stop());

async function makeScene(endpoints: number): Promise<Scene> {
  const { url } = await createTestDatabase(stack);
  const db = openToFill(url);
  await sql`
    WITH owner AS (
      INSERT INTO users (name) SELECT 'owner ' || n FROM generate_series(1, ${endpoints}::integer) n RETURNING id
    )
    INSERT INTO webhook_endpoints (user_id, url, events) SELECT id, 'https://hooks.example.com/', ARRAY['paste.stored'] FROM owner`.execute(
    db,
  );
  await sql`
    WITH delivery AS (
      INSERT INTO webhook_deliveries (endpoint_id, user_id, event_id, type, about, occurrence)
      SELECT id, user_id, uuid_v7(), 'paste.stored', 'code', gen_random_uuid()::text
      FROM webhook_endpoints, generate_series(1, ${WAITING_OF_EACH}::integer)
      RETURNING id, user_id, endpoint_id
    )
    INSERT INTO task_executions (kind, subject_id, user_id, endpoint_id, attempt)
    SELECT 'webhook', id, user_id, endpoint_id, 1 FROM delivery`.execute(db);
  await sql`VACUUM (ANALYZE) webhook_endpoints, webhook_deliveries, task_executions, users`.execute(db);
  const [claimed] = (await claim(db, { limit: 1 })).deliveries;
  const { rows } = await sql<DeliveryPlace>`
    SELECT user_id AS "turnOf", id AS "endpointId" FROM webhook_endpoints ORDER BY user_id`.execute(db);
  await db.destroy();
  const { endpointId, deliveryId, executionId } = claimed!;
  return { url, endpointId, deliveryId, executionId, busy: rows };
}

const claim = (db: Database, options: { limit?: number; running?: readonly DeliveryPlace[] } = {}) =>
  claimDeliveries(db, {
    actor: 'w',
    leaseSeconds: 3600,
    after: null,
    running: [],
    limit: CLAIMED,
    perUser: 4,
    perEndpoint: 4,
    ...options,
  });

const hot: Record<string, (db: Database, scene: Scene) => Promise<unknown>> = {
  'a claim': (db) => claim(db),
  'a settlement': (db, { executionId }) =>
    settleExecutions(db, deliverySubject, [{ executionId, ...succeeded }], { actor: 'w', dispatched: false }),
  'a page of deliveries': (db, { endpointId }) =>
    listDeliveriesTo(db, endpointId, { limit: 50, after: null }),
  'sending again': (db, { endpointId, deliveryId }) => sendAgain(db, { endpointId, deliveryId }),
  'the search for zombies': (db) => findZombies(db, deliverySubject, 100),
  'the search for stranded deliveries': (db) => findStranded(db, deliverySubject, 'oldest', 100),
  'the removal of old deliveries': (db) => removeOldDeliveries(db, { retentionSeconds: 3600, limit: 100 }),
  'the removal of what endpoints have left': (db) => removeDeliveriesOfRemoved(db, { limit: 100 }),
};

it.each(Object.keys(hot))(
  '%s reads no more pages when 100,000 deliveries wait for 1,000 endpoints',
  async (name) => {
    const run = hot[name]!;
    const [few, many] = [
      await explain(small.url, (db) => run(db, small)),
      await explain(large.url, (db) => run(db, large)),
    ];
    process.stderr.write(`${name}: ${few.buffers} pages of ${FEW} endpoints, ${many.buffers} of ${MANY}\n`);
    expect(many.scanned).toEqual([]);
    expect(many.buffers).toBeLessThanOrEqual(few.buffers * MAX_GROWTH + PAGES_OF_ENDPOINT);
  },
);

it('a claim whose users have no place left looks at a bounded number of endpoints, and goes on behind them', async () => {
  const running = large.busy.flatMap((place) => Array.from({ length: 4 }, () => place));
  const { buffers } = await explain(large.url, (db) => claim(db, { running }));
  expect(buffers).toBeLessThan(MAX_ENDPOINTS * PAGES_OF_ENDPOINT * 2);
  const db = openToFill(large.url);
  try {
    const { deliveries, next } = await claim(db, { running });
    expect({ deliveries, next: next?.turnOf }).toEqual({
      deliveries: [],
      next: large.busy[MAX_ENDPOINTS - 1]?.turnOf,
    });
  } finally {
    await db.destroy();
  }
});
