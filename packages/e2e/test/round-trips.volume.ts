import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';
import { asForm, asJson, expectReadBack, fromShell, LIMIT, textOf } from './support/round-trips.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

it.each([
  ['JSON', asJson],
  ['a multipart form', asForm],
  ['the shell', fromShell],
])('10 MiB that are sent as %s are read back byte for byte', async (_, send) => {
  const { status, shortCode } = await send(cluster, textOf(LIMIT));
  expect(status).toBe(201);
  await expectReadBack(cluster, shortCode, textOf(LIMIT));
});

it('leaves no open work and no other objects than those of the pastes', async () => {
  await cluster.expectQuiet();
});
