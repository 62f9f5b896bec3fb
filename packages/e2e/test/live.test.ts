import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fetch, PasteEvent } from '@pasteflow/client';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ apis: 2, env: { UPLOAD_RETRY_JITTER_MS: '0' } });
});
afterAll(() => cluster.stop());

/** Sends each request to the next api that is there. */
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

/** Told so far; `until` waits for a number of them. */
function collect(events: AsyncIterable<PasteEvent>) {
  const told: PasteEvent[] = [];
  const done = (async () => {
    for await (const event of events) told.push(event);
  })();
  return { told, done };
}

const killApis = async (): Promise<void> => {
  for (const api of cluster.apis) {
    await api.kill();
    await api.start();
  }
};

describe('a client that follows a paste', () => {
  it('is told each transition once, while a put fails, and the worker, the apis and Postgres go away', async () => {
    const client = cluster.client({ fetch: balanced(), retry });
    cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 }, 1); // the second
    const hold = cluster.s3.hold({ method: 'PUT' });
    const { short_code: code } = await client.pastes.create('hello');
    const { told, done } = collect(client.pastes.events(code));
    const waiting = client.pastes.wait(code);
    const put = await hold;
    await cluster.until(() => told.length === 1);
    const [doomed] = cluster.workers;
    await cluster.add('upload-worker');
    await doomed!.kill();
    put.drop();
    await killApis();
    await cluster.postgres.down();
    await cluster.postgres.up();

    expect(await waiting).toMatchObject({ status: 'PROCESSED' });
    await done;
    const { transitions } = await client.pastes.timeline(code);
    expect(told.flatMap((event) => (event.type === 'transition' ? [event.transition] : []))).toEqual(
      transitions,
    );
    expect(told.at(-1)).toMatchObject({ type: 'end', status: 'PROCESSED' });
    expect(transitions.filter(({ to }) => to === 'FAILED')).toHaveLength(2);
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
    await cluster.expectQuiet();
  });

  it('is told of what psql does', async () => {
    const hold = cluster.s3.hold({ method: 'PUT' });
    const { short_code: code } = await cluster.client().pastes.create('hello');
    const { told, done } = collect(cluster.client({ api: 1 }).pastes.events(code));
    const put = await hold;
    await cluster.until(() => told.length === 1);
    await cluster.rows.query(
      `UPDATE pastes SET status = 'FAILED', failed_at = now(), failure_reason = 'by hand' WHERE short_code = $1`,
      [code],
    );
    await done;
    expect(told.slice(1)).toMatchObject([
      { transition: { from: 'IN_PROGRESS', to: 'FAILED', actor: 'operator', reason_class: 'other' } },
      { type: 'end', status: 'FAILED' },
    ]);
    await put.forward();
  });
});

describe('an api that is told to stop', () => {
  it('sends those who wait on to another, and ends in time', async () => {
    const hold = cluster.s3.hold({ method: 'PUT' });
    const client = cluster.client({ fetch: balanced(), retry });
    const { short_code: code } = await client.pastes.create('hello');
    const put = await hold;
    const followers = [collect(client.pastes.events(code)), collect(client.pastes.events(code))];
    const waiting = [client.pastes.wait(code), client.pastes.wait(code)];
    await cluster.until(() => followers.every(({ told }) => told.length === 1));
    const [first] = cluster.apis;
    expect(await first!.stop()).toEqual({ code: 0, signal: null });
    await put.forward();
    for (const each of waiting) expect(await each).toMatchObject({ status: 'PROCESSED' });
    for (const { told, done } of followers) {
      await done;
      expect(told.map(({ type }) => type)).toEqual(['transition', 'transition', 'transition', 'end']);
    }
    await first!.start();
  });
});
