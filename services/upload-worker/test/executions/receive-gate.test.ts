import { expect, it } from '@jest/globals';
import { ReceiveGate } from '../../src/executions/receive-gate.ts';

it('makes all callers wait until it may open, and asks once at a time for all of them', async () => {
  let up = false;
  let pings = 0;
  const gate = new ReceiveGate(() => {
    pings += 1;
    return up ? Promise.resolve(true) : Promise.reject(new Error('down'));
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
  const gate = new ReceiveGate(() => Promise.reject(new Error('down')));
  gate.close();
  const waiting = gate.waitUntilOpen();
  gate.stop();
  await waiting;
});
