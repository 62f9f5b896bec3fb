import { expect, it } from '@jest/globals';
import { useDatabase } from './database.ts';
import { replay } from './replay.ts';

const current = useDatabase();

it('does by its statements what the model does', async () => {
  const { steps, difference } = await replay(current.db, { traces: 20 });
  expect(difference).toBeNull();
  expect(steps).toBeGreaterThan(300);
});

it.each([
  ['reaps work that has a lease', { reaps: ({ status }: { status: string }) => status === 'RUNNING' }],
  ['settles without a fence', { settles: () => true }],
  ['keeps payloads', { deletesPayload: () => false }],
])('differs from a model that %s', async (_, mutant) => {
  const { difference } = await replay(current.db, { traces: 20, mutant });
  expect(difference).not.toBeNull();
});
