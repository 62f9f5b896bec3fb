import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { HealthServer, listen, Metrics, Readiness, StartError } from '../src/index.ts';

let readiness: Readiness;
let server: HealthServer;

const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init);

beforeEach(async () => {
  readiness = new Readiness();
  const metrics = new Metrics('api', { process: false });
  metrics.counter({ name: 'things_total', help: 'Things' }).inc();
  server = new HealthServer({ host: '127.0.0.1', port: 0 }, readiness, metrics);
  await server.start();
});

afterEach(() => server.stop());

describe('the health server', () => {
  it('answers /healthz with 200 while the service is not ready', async () => {
    const response = await get('/healthz');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'alive' });
  });

  it('answers /readyz with 503 until the service has started, then with 200, and with 503 while the service stops', async () => {
    expect((await get('/readyz')).status).toBe(503);
    readiness.markStarted();
    readiness.addCheck('postgres', () => Promise.resolve());
    const ready = await get('/readyz');
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({
      ready: true,
      status: 'ready',
      checks: { postgres: { state: 'ok', required: true } },
    });
    readiness.markStopping();
    expect((await get('/readyz')).status).toBe(503);
  });

  it('does not reveal the reason of a failed check', async () => {
    readiness.markStarted();
    readiness.addCheck('postgres', () => Promise.reject(new Error('connect ECONNREFUSED db.internal')));
    const response = await get('/readyz');
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('db.internal');
  });

  it('serves the metrics in the format of Prometheus', async () => {
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=/);
    expect(await response.text()).toContain('things_total{service="api"} 1');
  });

  it('answers 404 for other paths and 405 for other methods', async () => {
    expect((await get('/')).status).toBe(404);
    const post = await get('/healthz', { method: 'POST' });
    expect(post.status).toBe(405);
    expect(post.headers.get('allow')).toBe('GET, HEAD');
  });

  it('stops although a client has not finished its request', async () => {
    const client = connect(server.port, '127.0.0.1');
    client.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /metr'); // the second request is incomplete
    await once(client, 'data');
    const closed = once(client, 'close');
    await server.stop();
    await closed;
    await expect(get('/healthz')).rejects.toThrow();
  });

  it('names the port that is in use and the variable to change', async () => {
    const second = new HealthServer(
      { host: '127.0.0.1', port: server.port },
      readiness,
      new Metrics('b', { process: false }),
    );
    await expect(second.start()).rejects.toThrow(
      new StartError(
        `127.0.0.1:${server.port} is in use by another program. Stop that program, or set METRICS_PORT to another port.`,
      ),
    );
    await second.stop();
  });
});

describe('listen', () => {
  it('rejects with a StartError for an address of another machine', async () => {
    const options = { host: '192.0.2.1', port: 0, portVariable: 'API_PORT' };
    await expect(listen(createServer(), options)).rejects.toThrow(StartError);
  });
});
