import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { useApi, type RunningApi } from './support/api.ts';
import { dial, problemOf } from './support/http.ts';
import { metricOf, waiting } from './support/until.ts';
import { newPaste, settle } from './support/pastes.ts';
import { newUser } from './support/users.ts';

// Before the api stops, because the api waits for its requests.
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
const bed = useApi();

/** Sends a request on a connection of its own, and leaves it waiting. */
async function send(
  api: RunningApi,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Socket> {
  const socket = await dial(api.port);
  sockets.push(socket.on('error', () => {}));
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

const env = { TRUST_PROXY: '1', MAX_WAITERS: '10', MAX_WAITERS_PER_CALLER: '3' };
const wait = { prefer: 'wait=60' };
const from = (address: string) => ({ 'x-forwarded-for': address });

describe('the waiting requests of one caller', () => {
  it('are limited, polls and streams together, and those of others go on', async () => {
    const api = await bed.start({ env });
    const code = await newPaste(bed.db);
    const paste = `/v1/pastes/${code}`;
    const mine = from('192.0.2.1');
    await send(api, paste, { ...mine, ...wait });
    await send(api, paste, { ...mine, ...wait });
    const stream = await send(api, `${paste}/events`, mine);
    await waiting(api, 2);
    await waiting(api, 1, 'events');

    for (const [path, headers] of [
      [paste, { ...mine, ...wait }],
      [`${paste}/events`, mine],
    ] as const) {
      const refused = await fetch(api.url + path, { headers });
      expect(refused.headers.get('retry-after')).toBe('1');
      const problem = await problemOf(refused);
      expect(problem).toMatchObject({ status: 429, code: 'rate_limited' });
      expect(problem.detail).toContain('3 of your requests are waiting');
    }
    expect(await metricOf(api, 'live_waiters_refused_total', { kind: 'wait' })).toBe(1);
    expect(await metricOf(api, 'live_waiters_refused_total', { kind: 'events' })).toBe(1);
    expect((await fetch(api.url + paste, { headers: mine })).status).toBe(200); // doesn't wait

    await send(api, paste, { ...from('192.0.2.2'), ...wait });
    await waiting(api, 3);
    stream.destroy();
    await waiting(api, 0, 'events');
    await send(api, `${paste}/events`, mine);
    await waiting(api, 1, 'events');
  });

  it('are those of a user with any token, from any address', async () => {
    const api = await bed.start({ env });
    const paste = `/v1/pastes/${await newPaste(bed.db)}`;
    const user = await newUser(bed.db);
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      await send(api, paste, { ...user.headers, ...from(address), ...wait });
    await waiting(api, 3);
    const headers = { ...user.headers, ...from('192.0.2.4'), ...wait };
    expect((await fetch(api.url + paste, { headers })).status).toBe(429);
    expect(
      (await fetch(`${api.url}${paste}/events`, { headers: from('192.0.2.1'), method: 'HEAD' })).status,
    ).toBe(200);
  });

  it('free their places when they are answered', async () => {
    const api = await bed.start({ env });
    for (let round = 0; round < 4; round += 1) {
      const code = await newPaste(bed.db);
      const answers = [1, 2, 3].map(() => fetch(`${api.url}/v1/pastes/${code}`, { headers: wait }));
      await waiting(api, 3);
      await settle(bed.db, code, 's3://pasteflow/x');
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    }
  });
});
