import { expect, it } from '@jest/globals';
import { actionNames } from '../src/index.ts';
import { useDatabase } from './database.ts';
import { replay } from './replay.ts';

const { REPLAYS = '300', SEED = '1' } = process.env;

const current = useDatabase();

it('does by its statements what the model does, in every action', async () => {
  const { steps, actions, difference } = await replay(current.db, {
    traces: Number(REPLAYS),
    seed: Number(SEED),
  });
  process.stdout.write(`${REPLAYS} traces, ${steps} steps, seed ${SEED}\n`);
  expect(difference).toBeNull();
  expect([...actions].sort()).toEqual([...actionNames].sort());
}, 3_600_000);
