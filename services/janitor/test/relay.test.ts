import { spawnService } from '@pasteflow/dev-stack/testing';
import { DependencyUnavailableError, INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import { makePastes, type MadePaste } from '@pasteflow/postgres/testing';
import { queueDepth } from '@pasteflow/sqs';
import { describe, expect, it } from '@jest/globals';
import { createRelay } from '../src/sweeps/relay.ts';
import { callSqs, drain } from './messages.ts';
import { useWorld, eventually, running, UPLOADS } from './world.ts';

const world = useWorld();

const relay = () => createRelay({ ...world, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 });
const unsent = (count: number) => makePastes(world.db, count, { status: 'IN_PROGRESS' });
const overdue = (count: number) =>
  makePastes(world.db, count, {
    status: 'IN_PROGRESS',
    execution: { status: 'PENDING', dueSecondsAgo: 31, dispatchedSecondsAgo: 31 },
  });

async function neverDispatched(): Promise<number> {
  const rows = await world.db
    .selectFrom('task_executions')
    .select('id')
    .where('dispatched_at', 'is', null)
    .execute();
  return rows.length;
}

const shortCodesIn = (bodies: readonly string[]) =>
  bodies.map((body) => (JSON.parse(body) as { shortCode: string }).shortCode);
const codes = (pastes: readonly MadePaste[]) => pastes.map(({ shortCode }) => shortCode).sort();

describe('relay', () => {
  it('sends undispatched messages, with small content inline, and stamps their executions', async () => {
    const small = Buffer.alloc(INLINE_CONTENT_BYTES, 0xff);
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', shortCodes: ['small'], content: small });
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      shortCodes: ['large'],
      content: Buffer.alloc(INLINE_CONTENT_BYTES + 1),
    });
    expect(await relay().runOnce(running())).toEqual({ sent: 2, resent: 0, postponed: 0 });
    const messages = (await drain(world, UPLOADS)).map((body) => JSON.parse(body) as object);
    expect(messages).toHaveLength(2);
    expect(messages).toContainEqual({ shortCode: 'small', contentBytes: small.toString('base64') });
    expect(messages).toContainEqual({ shortCode: 'large' });
    expect(await neverDispatched()).toBe(0);
    expect(await relay().runOnce(running())).toEqual({ sent: 0, resent: 0, postponed: 0 });
  });

  it('leaves the api its grace, and a retry its wait', async () => {
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 0 },
    });
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: -16 },
    });
    expect(await relay().runOnce(running())).toMatchObject({ sent: 0 });
    expect(await neverDispatched()).toBe(2);
  });

  it('sends a large backlog in one run, ten messages a request', async () => {
    const pastes = await unsent(1205);
    expect(await relay().runOnce(running())).toMatchObject({ sent: 1205 });
    expect(world.proxy.matching({ target: 'SendMessageBatch' })).toHaveLength(121);
    expect(shortCodesIn(await drain(world, UPLOADS)).sort()).toEqual(codes(pastes));
  });

  it('fails while SQS is down, without a request for each message, and sends all messages after the outage', async () => {
    const pastes = await unsent(200);
    const mend = world.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 });
    await expect(relay().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(world.proxy.matching({ target: 'SendMessageBatch' }).length).toBeLessThanOrEqual(8);
    expect(await neverDispatched()).toBe(200);
    mend();
    expect(await relay().runOnce(running())).toMatchObject({ sent: 200 });
    expect(shortCodesIn(await drain(world, UPLOADS)).sort()).toEqual(codes(pastes));
  });

  it('stamps the messages that SQS accepted although another request failed', async () => {
    await unsent(40);
    // Both tries of one of the four concurrent requests.
    world.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 }, 8);
    world.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'pass' }, 2);
    await expect(relay().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(await neverDispatched()).toBe(20);
    expect(await drain(world, UPLOADS)).toHaveLength(20);
  });

  it('sends messages again after a crash before the stamp', async () => {
    const [paste] = await unsent(1);
    const arrived = world.proxy.hold({ target: 'SendMessageBatch' });
    const janitor = spawnService({ entry: MAIN, args: ['--once', 'relay'], env: world.env });
    const response = await (await arrived).forwardAndHoldResponse();
    janitor.kill('SIGKILL');
    await janitor.exited;
    response.drop();
    expect(await neverDispatched()).toBe(1);
    expect(await relay().runOnce(running())).toMatchObject({ sent: 1 });
    expect(shortCodesIn(await drain(world, UPLOADS))).toEqual([paste?.shortCode, paste?.shortCode]);
  });

  it('sends the backlog after an outage of SQS', async () => {
    await world.proxy.down();
    const janitor = spawnService({ entry: MAIN, env: world.env });
    try {
      const pastes = await unsent(50);
      await janitor.waitFor(/"sweep failed".*"sweep":"relay","failures":2/);
      await world.proxy.up();
      await eventually(async () => (await neverDispatched()) === 0);
      expect(shortCodesIn(await drain(world, UPLOADS)).sort()).toEqual(codes(pastes));
    } finally {
      await world.proxy.up();
      await janitor.stop();
    }
  });

  it('sends an overdue message again, once in the redispatch time', async () => {
    const pastes = await overdue(12);
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 60, dispatchedSecondsAgo: 5 },
    });
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 5, dispatchedSecondsAgo: 60 },
    });
    expect(await relay().runOnce(running())).toEqual({ sent: 0, resent: 12, postponed: 0 });
    expect(shortCodesIn(await drain(world, UPLOADS)).sort()).toEqual(codes(pastes));
    expect(await relay().runOnce(running())).toEqual({ sent: 0, resent: 0, postponed: 0 });
  });

  it('sends undispatched messages into a deep queue, but no overdue ones', async () => {
    await fillQueue(1000);
    await overdue(3);
    await unsent(1);
    expect(await relay().runOnce(running())).toEqual({ sent: 1, resent: 0, postponed: 1 });
    expect(await queueDepth(world.sqs, world.uploads)).toBe(1001);
  });

  it('reads the depth of the queue only when a message is overdue', async () => {
    await unsent(1);
    await relay().runOnce(running());
    expect(world.proxy.matching({ target: 'GetQueueAttributes' })).toEqual([]);
  });
});

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;

async function fillQueue(count: number): Promise<void> {
  const Entries = Array.from({ length: 10 }, (_, index) => ({
    Id: String(index),
    MessageBody: '{"shortCode":"other"}',
  }));
  for (let sent = 0; sent < count; sent += 10) {
    await callSqs(world.stack.aws.endpoint, 'SendMessageBatch', UPLOADS, { Entries });
  }
}
