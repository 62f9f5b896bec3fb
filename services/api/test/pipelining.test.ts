import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { PipelinedRequests } from '../src/http/server/pipelined-requests.ts';
import { useApi } from './support/api.ts';
import { answerOn, dial } from './support/http.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { until, waiting } from './support/until.ts';

const bed = useApi();
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

describe('requests that a client sends without waiting for the answers', () => {
  it('are handled one after the other, in their order', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
    const codes = await Promise.all(['first', 'second', 'third'].map((each) => processedPaste(bed, each)));
    const held = proxy.hold({ method: 'GET' });
    const socket = await dial(api.port);
    socket.write(codes.map((code) => get(`/${code}`)).join('') + get('/healthz', 'Connection: close\r\n'));
    const request = await held;
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200); // other connections don't wait
    expect(proxy.requests).toHaveLength(1);
    await request.forward();
    const { body } = await answerOn(socket);
    expect(body.match(/first|second|third|"alive"/g)).toEqual(['first', 'second', 'third', '"alive"']);
    await api.stop();
    await proxy.stop();
  });

  it('all end when the client disconnects, handled or not', async () => {
    const code = await newPaste(bed.db);
    const socket = await dial(bed.api.port);
    socket.write(
      get(`/v1/pastes/${code}`, 'Prefer: wait=60\r\n') + get(`/v1/pastes/${code}/events`).repeat(3),
    );
    await waiting(bed.api, 1, 'wait');
    socket.resetAndDestroy();
    await waiting(bed.api, 0, 'wait');
    await waiting(bed.api, 0, 'events');
    const ended = () =>
      bed.api.logs.filter(({ message, aborted }) => message === 'request' && aborted === true);
    await until(ended, ({ length }) => length === 4);
    // Three were never handled.
    expect(ended().map(({ route }) => route)).toEqual(['/v1/pastes/:short_code', 'none', 'none', 'none']);
  });

  it('are at most 100: the connection is cut', async () => {
    const code = await newPaste(bed.db);
    const socket = await dial(bed.api.port);
    socket.write(get(`/v1/pastes/${code}`, 'Prefer: wait=60\r\n') + get('/healthz').repeat(101));
    expect(await answerOn(socket).catch(() => ({ status: Number.NaN }))).toEqual(
      expect.objectContaining({ status: Number.NaN }),
    );
    await waiting(bed.api, 0, 'wait');
  });
});

it('a connection that waits for its next request keeps no answer', () => {
  const [pipelined, socket] = [new PipelinedRequests(), new Socket()];
  const take = (): ServerResponse => {
    const req = new IncomingMessage(socket);
    const res = new ServerResponse(req);
    pipelined.take(req, res, () => {});
    return res;
  };
  expect(pipelined.pending(socket)).toBeUndefined();
  const first = take();
  expect(pipelined.pending(socket)).toBe(first);
  const second = take();
  pipelined.leave(socket, first);
  expect(pipelined.pending(socket)).toBe(second);
  pipelined.leave(socket, second);
  expect(pipelined.pending(socket)).toBeUndefined();
});
