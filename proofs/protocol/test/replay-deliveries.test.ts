import { expect, it } from '@jest/globals';
import { deliveryActions } from '../src/index.ts';
import { useDatabase } from './database.ts';
import { replayDeliveries } from './replay-deliveries.ts';

const current = useDatabase();

it('does by its statements what the model of deliveries does, in every action', async () => {
  const { actions, difference } = await replayDeliveries(current.db, { traces: 60 });
  expect(difference).toBeNull();
  const real = deliveryActions.filter((name) => name !== 'the event happens again'); // only a mutant does
  expect([...actions].sort()).toEqual(real.sort());
});

it.each([
  ['reaps work that has a lease', { reaps: ({ status }: { status: string }) => status === 'RUNNING' }],
  ['settles without a fence', { settles: () => true }],
  ['sends to an endpoint that is off', { sends: () => true }],
  ['records nothing', { records: false }],
  ['records again', { recordsAgain: true }],
])('differs from a model of deliveries that %s', async (_, mutant) => {
  const { difference } = await replayDeliveries(current.db, { traces: 60, mutant });
  expect(difference).not.toBeNull();
});
