import { spawnService } from '@pasteflow/dev-stack/testing';
import { makePastes } from '@pasteflow/postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sweepNames } from '../src/sweep-names.ts';
import type { TestStack } from '@pasteflow/dev-stack/testing';
import { createWorldWithPostgres, eventually, type World, deletionStates } from './world.ts';

let world: World<TestStack>;
beforeAll(async () => {
  world = await createWorldWithPostgres();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const start = (env: Record<string, string> = {}) =>
  spawnService({ entry: new URL('../src/main.ts', import.meta.url).pathname, env: { ...world.env, ...env } });
const expired = (count: number) => makePastes(world.db, count, { status: 'PROCESSED', expiresInSeconds: -5 });

// A janitor that does not stop within 10 s by its own clock ends itself with the code 1.
describe('the janitor', () => {
  it('runs every sweep on its schedule', async () => {
    const janitor = start({ SWEEP_INTERVALS: sweepNames.map((name) => `${name}=0.3`).join() });
    for (const name of sweepNames) await janitor.waitFor(new RegExp(`"sweep done".*"sweep":"${name}"`));
    await expired(1);
    await eventually(async () => (await deletionStates(world)).DELETED === 1);
    await expired(1);
    await eventually(async () => (await deletionStates(world)).DELETED === 2);
    expect(await janitor.stop()).toEqual({ code: 0, signal: null });
  });

  it('stops within 10 s of SIGTERM during its work, and leaves no claim', async () => {
    await expired(1001);
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const janitor = start({ SWEEP_INTERVALS: 'cleanup=0.1' });
    const request = await held;
    janitor.kill('SIGTERM');
    await request.forward();
    expect(await janitor.exited).toEqual({ code: 0, signal: null });
    expect(await deletionStates(world)).toEqual({ DELETED: 1000, NOT_EXPIRED: 1 });
  });

  it('stops within 10 s although S3 never answers, and releases its claims; names of earlier releases are understood', async () => {
    await expired(5);
    world.proxy.rule({ method: 'POST', path: /\?delete/ }, { kind: 'hang' });
    const janitor = start({ CLEANUP_INTERVAL_SECONDS: '0.1', RELAY_GRACE_SECONDS: '9' });
    await janitor.waitFor(
      /retired setting.*CLEANUP_INTERVAL_SECONDS still has its effect: write cleanup=… into/,
    );
    await janitor.waitFor(/retired setting.*RELAY_GRACE_SECONDS has no effect/);
    await eventually(() => world.proxy.matching({ path: /\?delete/ }).length > 0);
    expect(await janitor.stop()).toEqual({ code: 0, signal: null });
    expect(await deletionStates(world)).toEqual({ NOT_EXPIRED: 5 });
  });

  it('continues after a restart of Postgres', async () => {
    const janitor = start({ SWEEP_INTERVALS: 'cleanup=0.2' });
    await janitor.waitFor(/"sweep done"/);
    await world.stack.restartPostgres(async () => {
      await janitor.waitFor(/"sweep failed".*postgres does not answer/);
    });
    await expired(1);
    await eventually(async () => (await deletionStates(world)).DELETED === 1);
    expect(await janitor.stop()).toEqual({ code: 0, signal: null });
  });
});
