import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fetch, PasteEvent } from '@pasteflow/client';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    apis: 2,
    env: {
      S3_PUT_TIMEOUT_MS: '60000', // a held put waits while a busy machine starts a worker
    },
  });
});
afterAll(() => cluster.stop());

/** Sends requests to the two apis in turn. */
function balanced(): Fetch {
  let next = 0;
  return async (request) => {
    const { port } = new URL(cluster.http(next++ % 2).url);
    const url = new URL(request.url);
    url.port = port;
    return await fetch(new Request(url, request));
  };
}

const retry = { firstDelayMs: 50, maxTries: 50 };

/** Collects the events of a stream. `done` resolves at the end of the stream. */
function collect(events: AsyncIterable<PasteEvent>) {
  const received: PasteEvent[] = [];
  const done = (async () => {
    for await (const event of events) received.push(event);
  })();
  return { received, done };
}

const killApis = async (): Promise<void> => {
  for (const api of cluster.apis) {
    await api.kill();
    await api.start();
  }
};

describe('a client that reads the events of a paste', () => {
  it('receives each transition once while a put fails, a worker and the apis are killed, and Postgres is cut off', async () => {
    const client = cluster.client({ fetch: balanced(), retry });
    cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 }, 1); // fails the second put
    const hold = cluster.s3.hold({ method: 'PUT' });
    const { short_code: code } = await client.pastes.create('hello');
    const { received, done } = collect(client.pastes.events(code));
    const waiting = client.pastes.wait(code);
    const put = await hold;
    await cluster.until(() => received.length === 1);
    const [worker] = cluster.workers;
    await cluster.add('upload-worker');
    await worker!.kill();
    put.drop();
    await killApis();
    await cluster.postgres.down();
    await cluster.postgres.up();

    expect(await waiting).toMatchObject({ status: 'PROCESSED' });
    await done;
    const { transitions } = await client.pastes.timeline(code);
    expect(received.flatMap((event) => (event.type === 'transition' ? [event.transition] : []))).toEqual(
      transitions,
    );
    expect(received.at(-1)).toMatchObject({ type: 'end', status: 'PROCESSED' });
    expect(transitions.filter(({ to }) => to === 'FAILED')).toHaveLength(2);
    expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
    await cluster.expectQuiet();
  });

  it('receives a transition that psql makes', async () => {
    const hold = cluster.s3.hold({ method: 'PUT' });
    const { short_code: code } = await cluster.client().pastes.create('hello');
    const { received, done } = collect(cluster.client({ api: 1 }).pastes.events(code));
    const put = await hold;
    await cluster.until(() => received.length === 1);
    await cluster.rows.query(
      `UPDATE pastes SET status = 'FAILED', failed_at = now(), failure_reason = 'by hand' WHERE short_code = $1`,
      [code],
    );
    await done;
    expect(received.slice(1)).toMatchObject([
      { transition: { from: 'IN_PROGRESS', to: 'FAILED', actor: 'operator', reason_class: 'other' } },
      { type: 'end', status: 'FAILED' },
    ]);
    await put.forward();
  });
});

describe('an api that is stopped', () => {
  it('lets waiting clients continue at another api, and ends in time', async () => {
    const hold = cluster.s3.hold({ method: 'PUT' });
    const client = cluster.client({ fetch: balanced(), retry });
    const { short_code: code } = await client.pastes.create('hello');
    const put = await hold;
    const followers = [collect(client.pastes.events(code)), collect(client.pastes.events(code))];
    const waiting = [client.pastes.wait(code), client.pastes.wait(code)];
    await cluster.until(() => followers.every(({ received }) => received.length === 1));
    const [first] = cluster.apis;
    expect(await first!.stop()).toEqual({ code: 0, signal: null });
    await put.forward();
    for (const each of waiting) expect(await each).toMatchObject({ status: 'PROCESSED' });
    for (const { received, done } of followers) {
      await done;
      expect(received.map(({ type }) => type)).toEqual(['transition', 'transition', 'transition', 'end']);
    }
    await first!.start();
  });
});
