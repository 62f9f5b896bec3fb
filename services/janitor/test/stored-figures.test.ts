import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { countOlderPastes, defaultTimeBounds, type Quotas } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { Metrics } from '@pasteflow/runtime';
import { DeadLetterAges } from '../src/sweeps/running/findings.ts';
import { StateMetrics } from '../src/metrics/state-metrics.ts';
import { createWorld, running, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.reset();
});
afterAll(() => world.stop());

/** The lines of the metrics of what is stored. */
async function shownWith(quotas: Quotas | null): Promise<readonly string[]> {
  const metrics = new Metrics('janitor', { process: false });
  const state = new StateMetrics(
    {
      ...world,
      db: world.janitorDb,
      deadLetterAges: new DeadLetterAges(),
      quotas,
      bounds: defaultTimeBounds,
      metrics,
      logger: world.log,
    },
    { intervalSeconds: 15, mayLoseDataBy: [], onSweepRuns: () => {} },
  );
  await state.read(running());
  return (await metrics.text()).split('\n').filter((line) => line.startsWith('pasteflow_stored_'));
}

it('the metrics say what is stored and what may be, where there are quotas', async () => {
  const made = await makePastes(world.db, 4, { status: 'PROCESSED', content: Buffer.alloc(25) });
  await countOlderPastes(
    world.db,
    made.map(({ id }) => id),
  );
  const others = { maxPastes: 5, maxBytes: null };
  const pastes = 'pasteflow_stored_pastes{service="janitor"} 4';
  const bytes = 'pasteflow_stored_bytes{service="janitor"} 100';
  expect(await shownWith({ ...others, maxStoredPastes: 9, maxStoredBytes: 1000 })).toEqual([
    pastes,
    'pasteflow_stored_pastes_limit{service="janitor"} 9',
    bytes,
    'pasteflow_stored_bytes_limit{service="janitor"} 1000',
  ]);
  expect(await shownWith({ ...others, maxStoredPastes: null, maxStoredBytes: null })).toEqual([
    pastes,
    bytes,
  ]);
  expect(await shownWith(null)).toEqual([]);
});
