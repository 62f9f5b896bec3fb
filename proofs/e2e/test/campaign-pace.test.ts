import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { actAll, type PacedLoad } from '../src/campaign/pace.ts';

const ACTS = ['a', 'b', 'c', 'd', 'e'];
const PASTES = 52;

it('spreads the faults of a campaign over all its pastes, with load for each', async () => {
  const load = { allowed: 0, begun: 0 };
  const isOver = new AbortController();
  const loading = (async () => {
    while (!isOver.signal.aborted) {
      if (load.begun < load.allowed) load.begun += 1;
      await sleep(1);
    }
  })();
  const seen: { act: string; begun: number; left: number }[] = [];
  await actAll(ACTS, load, { pastes: PASTES, patienceMs: 600_000 }, async (act) => {
    await Promise.resolve();
    seen.push({ act, begun: load.begun, left: load.allowed - load.begun });
  });
  isOver.abort();
  await loading;
  expect(seen.map(({ act }) => act)).toEqual(ACTS);
  expect(seen.map(({ begun }) => begun)).toEqual([0, 11, 21, 32, 42]);
  expect(seen.map(({ left }) => left)).toEqual([11, 10, 11, 10, 10]);
  expect(load.allowed).toBe(PASTES);
});

it('goes on when a fault has stopped the load, because the next one may let it go on', async () => {
  const load: PacedLoad = { allowed: 0, begun: 0 };
  const acts: string[] = [];
  await actAll(ACTS, load, { pastes: PASTES, patienceMs: 50 }, async (act) => {
    await Promise.resolve();
    acts.push(act);
  });
  expect(acts).toEqual(ACTS);
});
