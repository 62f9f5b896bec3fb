import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { startCluster, visibilityChanges, type Cluster, type Service } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      SWEEP_INTERVALS: 'cleanup=0.5',
      S3_PUT_TIMEOUT_MS: '60000', // a held put waits while a busy machine starts a worker
    },
  });
});
afterEach(async () => {
  await cluster.expectQuiet();
});
afterAll(() => cluster.stop());

const content = randomBytes(1000);

/** Sends SIGTERM. Resolves when the service has logged it, with a promise of the end. */
async function beginToStop(service: Service): Promise<{ ended: Promise<{ code: number | null }> }> {
  const ended = service.stop();
  await cluster.until(() => service.log.some(({ message }) => message === 'service stopping'));
  return { ended };
}

/** A service that does not stop within 10 s by its own clock ends itself with the code 1. */
async function expectGoodEnd(ended: Promise<{ code: number | null }>): Promise<void> {
  expect((await ended).code).toBe(0);
}

describe('an api that is stopped under load', () => {
  it('answers every accepted request, also slow ones, and then refuses connections', async () => {
    const api = cluster.apis[0]!;
    const stored = await cluster.client().pastes.create(content);
    await cluster.untilStatus(stored.short_code, 'PROCESSED');
    const load = cluster.load(post, { lanes: 6 });
    const slowUpload = await beginUpload();
    const holding = cluster.s3.hold({ method: 'GET', path: cluster.objectPath(stored.short_code) });
    const reading = cluster.http().read(stored.short_code);
    const slowRead = await holding;
    const idle = await idleConnection();

    const { ended } = await beginToStop(api);
    expect((await fetch(`${api.metricsUrl}/readyz`)).status).toBe(503);
    await cluster.until(() => load.outcomes.includes('ECONNREFUSED'));
    const outcomes = await load.stop();
    await idle.closed; // by then the api has closed its port and its idle connections
    await slowRead.forward();
    expect((await reading).body.equals(content)).toBe(true);
    const uploaded = await slowUpload.finish();
    expect(uploaded.status).toBe(201);
    await expectGoodEnd(ended);

    const accepted = api.log.filter(({ message, method }) => message === 'request' && method === 'POST');
    expect(accepted.filter(({ status, aborted }) => status !== 201 || aborted === true)).toEqual([]);
    const answered = outcomes.filter((outcome) => outcome === 201).length;
    expect(answered).toBeGreaterThan(0);
    expect(accepted).toHaveLength(answered + 2); // with those of `stored` and `slowUpload`
    // A connection that the kernel accepts just before the port closes is reset before the api accepts it,
    // and counts as refused.
    const refused = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']);
    expect(outcomes.filter((outcome) => outcome !== 201 && !refused.has(String(outcome)))).toEqual([]);

    await api.start();
    await cluster.untilStatus(uploaded.paste.short_code, 'PROCESSED');
    expect((await cluster.http().read(uploaded.paste.short_code)).body.equals(SLOW_CONTENT)).toBe(true);
  });
});

describe('a worker that is stopped under load', () => {
  it('lets puts end that end in time, returns the other messages, and spends no attempt', async () => {
    const worker = cluster.workers[0]!;
    const inTime = await pasteWithHeldPut();
    const hanging = await pasteWithHeldPut();
    const other = await cluster.add('upload-worker');
    const load = cluster.load(post);

    const { ended } = await beginToStop(worker);
    // The load only has to fill the worker that stops. On a busy machine, more of it would leave a backlog of
    // minutes.
    await Promise.all([load.stop(), inTime.put.forward()]);
    await expectGoodEnd(ended);
    const interruptions = await cluster.rows.query(`SELECT FROM task_executions WHERE error = 'interrupted'`);
    const returned = visibilityChanges(cluster.sqs).filter((seconds) => seconds === 0);
    expect(interruptions.length).toBeGreaterThan(0);
    expect(returned.length).toBeGreaterThanOrEqual(interruptions.length); // otherwise hidden for at least 8 s
    await cluster.untilStatus(hanging.code, 'PROCESSED');
    const puts = cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(hanging.code) });
    expect(puts).toHaveLength(2);

    expect(await cluster.executions(inTime.code)).toMatchObject([{ attempt: 1, status: 'SUCCEEDED' }]);
    const [interrupted, successor] = await cluster.executions(hanging.code);
    expect(interrupted).toMatchObject({ attempt: 1, status: 'FAILED', error: 'interrupted' });
    expect(successor).toMatchObject({ attempt: 1, status: 'SUCCEEDED' });
    expect(successor!.worker_id).not.toBe(interrupted!.worker_id);
    await cluster.expectQuiet();
    const failed = await cluster.rows.query(
      `SELECT * FROM task_executions WHERE attempt > 1 OR (status = 'FAILED' AND error <> 'interrupted')`,
    );
    expect(failed).toEqual([]);
    await expectGoodEnd((await beginToStop(other)).ended);
    await worker.start();
  });
});

describe('a janitor that is stopped during a cleanup', () => {
  it('settles a deletion that ends in time', async () => {
    const janitor = cluster.janitors[0]!;
    const { code, deletion } = await pasteWithHeldDeletion();
    const { ended } = await beginToStop(janitor);
    await deletion.forward();
    await expectGoodEnd(ended);
    expect(await cluster.paste(code)).toMatchObject({ deletion_status: 'DELETED' });
    await janitor.start();
  });

  it('releases its claims when S3 does not answer, and the next cleanup deletes the pastes', async () => {
    const janitor = cluster.janitors[0]!;
    const { code } = await pasteWithHeldDeletion();
    await expectGoodEnd((await beginToStop(janitor)).ended);
    expect(await cluster.paste(code)).toMatchObject({ deletion_status: 'NOT_EXPIRED' });
    await janitor.start();
    await cluster.until(
      () => cluster.paste(code),
      (paste) => paste.deletion_status === 'DELETED',
    );
  });
});

/** @returns the status, or the code of the error when there was no answer */
async function post(): Promise<number | string> {
  try {
    const response = await cluster.http().post(randomBytes(300));
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return ((error as Error).cause as NodeJS.ErrnoException).code ?? String(error);
  }
}

const SLOW_CONTENT = randomBytes(100_000);

/** A POST of which the api has received half of the body. */
async function beginUpload(): Promise<{ finish(): Promise<{ status: number | undefined; paste: Paste }> }> {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': SLOW_CONTENT.length,
    expect: '100-continue', // the api sends 100 Continue when it begins to read
  };
  const upload: ClientRequest = request(`${cluster.http().url}/v1/pastes`, { method: 'POST', headers });
  upload.flushHeaders();
  await once(upload, 'continue');
  upload.write(SLOW_CONTENT.subarray(0, 50_000));
  return {
    finish: async () => {
      upload.end(SLOW_CONTENT.subarray(50_000));
      const [response] = (await once(upload, 'response')) as [IncomingMessage];
      return { status: response.statusCode, paste: (await json(response)) as Paste };
    },
  };
}

/** A kept-alive connection whose request was answered. */
async function idleConnection(): Promise<{ closed: Promise<unknown> }> {
  const socket = connect(Number(new URL(cluster.http().url).port), '127.0.0.1');
  const closed = once(socket, 'close');
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'data');
  socket.resume();
  return { closed };
}

async function pasteWithHeldPut() {
  const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
  const { short_code: code } = await cluster.client().pastes.create(content);
  return { code, put: await holding };
}

async function pasteWithHeldDeletion() {
  const { short_code: code, delete_token: deleteToken } = await cluster.client().pastes.create(content);
  await cluster.untilStatus(code, 'PROCESSED');
  const holding = cluster.s3.hold({ method: 'POST', path: /\?delete/ });
  await cluster.client().pastes.delete(code, { deleteToken });
  return { code, deletion: await holding };
}
