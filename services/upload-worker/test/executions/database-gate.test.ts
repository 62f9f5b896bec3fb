import { expect, it } from '@jest/globals';
import { DatabaseGate } from '../../src/executions/database-gate.ts';

it('makes all callers wait until Postgres answers, with one ping at a time for all of them', async () => {
  let up = false;
  let pings = 0;
  const gate = new DatabaseGate(() => {
    pings += 1;
    return up ? Promise.resolve() : Promise.reject(new Error('down'));
  });
  await gate.waitUntilOpen();
  gate.close();
  gate.close();
  let through = 0;
  const waiting = [1, 2, 3].map(() => gate.waitUntilOpen().then(() => (through += 1)));
  while (pings < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(through).toBe(0);
  up = true;
  await Promise.all(waiting);
  expect(pings).toBe(3);
});

it('lets all callers continue when the worker stops', async () => {
  const gate = new DatabaseGate(() => Promise.reject(new Error('down')));
  gate.close();
  const waiting = gate.waitUntilOpen();
  gate.stop();
  await waiting;
});
