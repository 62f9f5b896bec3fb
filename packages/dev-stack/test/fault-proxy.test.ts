import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestStack, FaultProxy, type TestStack } from '../src/testing/index.ts';

let stack: TestStack;
let proxy: FaultProxy;
beforeAll(async () => {
  stack = await startTestStack();
  proxy = await FaultProxy.start(stack.aws.endpoint);
});
afterAll(async () => {
  await proxy.stop();
  await stack.stop();
});
afterEach(() => {
  proxy.clear();
  proxy.requests.length = 0;
});

const put = (key: string, body: string | Buffer, signal?: AbortSignal) =>
  fetch(`${proxy.url}/pasteflow/${key}`, { method: 'PUT', body, ...(signal && { signal }) });
const stored = async (key: string) => {
  const response = await fetch(`${stack.aws.endpoint}/pasteflow/${key}`);
  return response.ok ? Buffer.from(await response.arrayBuffer()) : undefined;
};
const sqs = (action: string, body: object, signal?: AbortSignal) =>
  fetch(proxy.url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify({ QueueUrl: `${proxy.url}/000000000000/pasteflow-uploads`, ...body }),
    ...(signal && { signal }),
  });

describe('FaultProxy', () => {
  it('forwards requests unchanged, and records them', async () => {
    const bytes = Buffer.alloc(10 * 1_048_576, 'pasteflow ');
    expect((await put('big?x=1', bytes)).status).toBe(200);
    expect(bytes.equals((await stored('big')) as Buffer)).toBe(true);
    const response = await fetch(`${proxy.url}/pasteflow/big`, { headers: { range: 'bytes=0-8' } });
    expect([response.status, await response.text()]).toEqual([206, 'pasteflow']);
    const head = await fetch(`${proxy.url}/pasteflow/big`, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
    expect(proxy.requests).toMatchObject([
      { method: 'PUT', path: '/pasteflow/big?x=1', bodyBytes: bytes.length, body: undefined, status: 200 },
      { method: 'GET', path: '/pasteflow/big', bodyBytes: 0, status: 206, aborted: false },
      { method: 'HEAD', status: 200 },
    ]);
  });

  it('fails the given number of requests with an S3 error, and does not forward them', async () => {
    proxy.rule({ method: 'PUT', path: /\/failing$/ }, { kind: 'fail', status: 503 }, 2);
    const answers = [await put('failing', 'x'), await put('failing', 'x')];
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(await answers[0]?.text()).toContain('<Code>SlowDown</Code>');
    expect(await stored('failing')).toBeUndefined();
    expect((await put('other', 'x')).status).toBe(200);
    expect((await put('failing', 'x')).status).toBe(200);
    expect(proxy.matching({ path: /failing/ })).toHaveLength(3);
  });

  it('matches single SQS actions, and prefers a newer rule to an older one', async () => {
    proxy.rule({ target: 'SendMessage' }, { kind: 'fail', status: 500 });
    expect(await (await sqs('SendMessage', { MessageBody: 'a' })).json()).toMatchObject({
      __type: 'com.amazonaws.sqs#InternalError',
    });
    const remove = proxy.rule({ target: /SendMessage/ }, { kind: 'pass' });
    expect((await sqs('SendMessage', { MessageBody: 'b' })).status).toBe(200);
    remove();
    expect((await sqs('SendMessage', { MessageBody: 'c' })).status).toBe(500);
    expect((await sqs('PurgeQueue', {})).status).toBe(200);
  });

  it('delays a request by at least the given time', async () => {
    proxy.rule({ method: 'PUT' }, { kind: 'delay', ms: 150 });
    const start = performance.now();
    expect((await put('late', 'x')).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(149);
  });

  it('holds a request until the test forwards it', async () => {
    const arrived = proxy.hold({ method: 'PUT' });
    const answer = put('held', 'x');
    const held = await arrived;
    expect(await stored('held')).toBeUndefined();
    expect(held.request).toMatchObject({ path: '/pasteflow/held', bodyBytes: 1, status: undefined });
    expect(await held.forward()).toBe(200);
    expect((await answer).status).toBe(200);
  });

  it('can lose the answer to a request that was carried out', async () => {
    const arrived = proxy.hold({ method: 'PUT' });
    const answer = put('answer-lost', 'x').catch(() => 'reset');
    const response = await (await arrived).forwardAndHoldResponse();
    expect(response.status).toBe(200);
    expect(await stored('answer-lost')).toEqual(Buffer.from('x'));
    response.drop();
    expect(await answer).toBe('reset');
  });

  it('forwards a held request although its client has disconnected', async () => {
    const arrived = proxy.hold({ method: 'PUT' });
    const client = new AbortController();
    const answer = put('zombie', 'x', client.signal).catch(() => 'disconnected');
    const held = await arrived;
    client.abort();
    expect(await answer).toBe('disconnected');
    expect(await held.forward()).toBe(200);
    expect(held.request.aborted).toBe(true);
    expect(await stored('zombie')).toEqual(Buffer.from('x'));
  });

  it('drops a connection, or leaves it without an answer, and does not forward the request', async () => {
    proxy.rule({ path: /dropped/ }, { kind: 'drop' });
    proxy.rule({ path: /hanging/ }, { kind: 'hang' });
    await expect(put('dropped', 'x')).rejects.toThrow();
    await expect(put('hanging', 'x', AbortSignal.timeout(100))).rejects.toThrow(/timeout/);
    expect([await stored('dropped'), await stored('hanging')]).toEqual([undefined, undefined]);
  });

  it('ends the upstream request when the client ends a long poll, so that the next receive gets the next message', async () => {
    const client = new AbortController();
    const poll = sqs('ReceiveMessage', { WaitTimeSeconds: 20 }, client.signal).catch(() => 'disconnected');
    while (proxy.matching({ target: 'ReceiveMessage' }).length === 0) await new Promise(setImmediate);
    client.abort();
    expect(await poll).toBe('disconnected');
    await sqs('SendMessage', { MessageBody: 'for the next' });
    const next = (await (await sqs('ReceiveMessage', { WaitTimeSeconds: 5 })).json()) as {
      Messages: unknown;
    };
    expect(next.Messages).toMatchObject([{ Body: 'for the next' }]);
  });

  it('cuts all connections and refuses new ones, and listens again on the same port', async () => {
    proxy.rule({ path: /cut/ }, { kind: 'hang' });
    const cut = put('cut', 'x').catch(() => 'cut');
    while (proxy.requests.length === 0) await new Promise(setImmediate);
    await proxy.down();
    expect(await cut).toBe('cut');
    await expect(put('refused', 'x')).rejects.toThrow();
    await proxy.up();
    expect((await put('back', 'x')).status).toBe(200);
  });
});
