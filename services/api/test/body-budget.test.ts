import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SharedBudget } from '../src/http/limits/shared-budget.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { answerOn, dial, parseAnswer, postJson, problemOf, type RawAnswer } from './support/http.ts';
import { upload } from './support/pastes.ts';
import { until } from './support/until.ts';

// Before the api stops, because the api waits for its requests.
const dialled: Socket[] = [];
afterEach(() => dialled.splice(0).forEach((socket) => socket.destroy()));
const bed = useApi();

/** The clock of the process stands: on a slow machine too, no body has stopped arriving unless a test says so. */
let now = 0;
beforeEach(() => {
  now = Math.ceil(performance.now());
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** 100,000 for bodies of up to 64 KiB, 300,000 for larger ones; one caller gets half of each. */
const env = { MAX_BODY_BYTES_IN_FLIGHT: '400000', TRUST_PROXY: '1' };

describe('a shared budget', () => {
  it('grants what is left, to one caller only its part', () => {
    const budget = new SharedBudget({ total: 100, perCaller: 50 });
    const [first, second, third] = [budget.open('a'), budget.open('a'), budget.open('b')];
    expect([first.raiseTo(30), second.raiseTo(30), third.raiseTo(50)]).toEqual([null, 'caller', null]);
    expect([second.raiseTo(20), first.raiseTo(31)]).toEqual([null, 'total']);
    expect(budget.open('c').raiseTo(1)).toBe('total');
    expect(budget.used).toBe(100);
    third.release();
    third.release();
    expect(third.raiseTo(1000)).toBeNull();
    expect(budget.used).toBe(50);
  });

  it('grants more than the limit only to a request that is alone', () => {
    const budget = new SharedBudget({ total: 100, perCaller: 50 });
    const large = budget.open('a');
    expect(large.raiseTo(300)).toBeNull();
    expect(budget.open('b').raiseTo(1)).toBe('total');
    large.release();
    expect(budget.open('b').raiseTo(1)).toBeNull();
    expect(budget.open('a').raiseTo(100)).toBe('total');
  });
});

/** Sends the head of a paste and the first of its bytes. */
async function begin(api: RunningApi, address: string, head: string, sent: string): Promise<Socket> {
  const socket = await dial(api.port);
  socket.on('error', () => {});
  dialled.push(socket);
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: ${address}\r\n${head}\r\n\r\n${sent}`,
  );
  return socket;
}

const post = (api: RunningApi, address: string, bytes: number) =>
  fetch(api.url, {
    method: 'POST',
    headers: { 'x-forwarded-for': address },
    body: 'x'.repeat(bytes),
  });

/** An answer as soon as it is there: its connection stays open for seconds while the body is not whole. */
async function earlyAnswer(socket: Socket): Promise<RawAnswer> {
  for (let received = ''; ;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    received += chunk.toString();
    const answer = parseAnswer(received);
    if (answer.body.length === Number(answer.headers['content-length'])) return answer;
  }
}

const held = (api: RunningApi, bytes: number) =>
  until(
    () => inFlight(api.metricsUrl),
    (now) => now === bytes,
  );

describe('the bytes of bodies in flight', () => {
  it.each([
    ['a Content-Length', 'Content-Length: 130000', 'x'.repeat(120_000)],
    ['chunks', 'Transfer-Encoding: chunked', `1d4c0\r\n${'x'.repeat(120_000)}\r\n`],
  ])('are limited, and released when a client with %s disconnects', async (_name, head, sent) => {
    const api = await bed.start({ env });
    const [first] = [await begin(api, '192.0.2.1', head, sent), await begin(api, '192.0.2.2', head, sent)];
    await held(api, 240_000);

    const large = await begin(api, '192.0.2.3', 'Expect: 100-continue\r\nContent-Length: 70000', '');
    const answer = await earlyAnswer(large);
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'overloaded' });
    expect(await problemOf(await post(api, '192.0.2.1', 66_000))).toMatchObject({ code: 'overloaded' });
    for (const address of ['192.0.2.1', '192.0.2.3'])
      expect((await post(api, address, 40_000)).status).toBe(201);

    first.resetAndDestroy();
    await held(api, 120_000);
    expect((await post(api, '192.0.2.3', 70_000)).status).toBe(201);
    dialled.splice(0).forEach((socket) => socket.destroy());
    await held(api, 0);
    expect(api.logs.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });

  it.each([
    ['10 MiB', 2, 'Content-Length: 10485760', '41943040'],
    ['60,000 bytes', 100, 'Content-Length: 60000', '4000000'],
  ])(
    'are none that were only promised: bodies of %s of which one byte arrived stop nobody',
    async (_name, each, head, MAX_BODY_BYTES_IN_FLIGHT) => {
      const api = await bed.start({ env: { ...env, MAX_BODY_BYTES_IN_FLIGHT } });
      for (const address of ['192.0.2.1', '192.0.2.2'])
        for (let n = 0; n < each; n += 1) await begin(api, address, head, 'x');
      await held(api, 2 * each);
      for (const bytes of [5, 50_000, 140_000])
        expect((await post(api, '192.0.2.3', bytes)).status).toBe(201);
    },
  );

  it('that arrived and are not whole keep out no small body of others', async () => {
    const api = await bed.start({ env: { ...env, MAX_BODY_BYTES_IN_FLIGHT: '1600000' } });
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      for (const bytes of [60_000, 60_000, 60_000, 6666, 6666, 6666]) {
        const before = await inFlight(api.metricsUrl);
        const chunk = `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
        const socket = await begin(api, address, 'Transfer-Encoding: chunked', chunk);
        let isRefused = false;
        earlyAnswer(socket).then(
          ({ status }) => (isRefused = status === 503),
          () => {},
        );
        await until(async () => isRefused || (await inFlight(api.metricsUrl)) === before + bytes);
        if (isRefused) {
          socket.destroy();
          await held(api, before);
        }
        for (const small of [5, 30_000]) expect((await post(api, '192.0.2.3', small)).status).toBe(201);
      }
    }
  });

  it('of two bodies that have no room together, one is refused and the other goes on', async () => {
    const api = await bed.start({ env });
    const half = 'x'.repeat(70_000);
    const [one, other] = [
      await begin(api, '192.0.2.1', 'Content-Length: 140000', half),
      await begin(api, '192.0.2.1', 'Content-Length: 140000', half),
    ];
    await held(api, 140_000);
    one.write(half);
    other.write(half);
    const statuses = (await Promise.all([answerOn(one), answerOn(other)])).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 503]);
    await held(api, 0);
  });

  it('are given up by a body that has stopped arriving when another caller needs them, and not by one that goes on', async () => {
    const api = await bed.start({ env });
    const head = 'Content-Length: 130000';
    const goingOn = await begin(api, '192.0.2.1', head, 'x'.repeat(120_000));
    const stopped = await begin(api, '192.0.2.2', head, 'x'.repeat(120_000));
    await held(api, 240_000);
    expect((await post(api, '192.0.2.3', 70_000)).status).toBe(503);
    now += 3000;
    goingOn.write('x'.repeat(5000));
    stopped.write('x'); // too little to end within its minute
    await held(api, 245_001);
    expect((await post(api, '192.0.2.2', 70_000)).status).toBe(503); // it has no more room for itself
    expect((await post(api, '192.0.2.3', 70_000)).status).toBe(201);
    expect((await earlyAnswer(stopped)).body).toContain('Your body had stopped arriving');
    goingOn.write('x'.repeat(5000));
    expect((await answerOn(goingOn)).status).toBe(201);
  });

  it('that arrive are given up likewise by small bodies', async () => {
    const api = await bed.start({ env });
    const [head, sent] = ['Content-Length: 50000', 'x'.repeat(6000)];
    const stopped: Socket[] = [];
    for (let n = 1; n <= 8; n += 1) stopped.push(await begin(api, `192.0.2.${n}`, head, sent));
    await held(api, 48_000);
    expect((await earlyAnswer(await begin(api, '192.0.2.9', head, sent))).status).toBe(503);
    await held(api, 48_000);
    now += 3000;
    const late = await begin(api, '192.0.2.9', head, sent);
    const answer = await Promise.race(stopped.map(earlyAnswer));
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    await held(api, 48_000);
    late.write('x'.repeat(44_000));
    expect((await answerOn(late)).status).toBe(201);
  });

  it('are released after every outcome', async () => {
    const api = await bed.start({ env });
    const url = `${api.url}/v1/pastes`;
    const json = { 'content-type': 'application/json' };
    const form = { 'content-type': 'multipart/form-data; boundary=b' };
    for (const [headers, body] of [
      [{}, 'x'.repeat(900)],
      [{}, 'x'.repeat(500_000)],
      [json, '{"content":"x"}'],
      [json, '{'],
      [json, '{"content":1}'],
      [form, '--b'],
      [form, '--b\r\n'.repeat(100)],
    ] as const) {
      await fetch(url, { method: 'POST', headers, body });
      await held(api, 0);
    }
  });
});

it('a caller may have 200 bodies that have not arrived, and others send theirs', async () => {
  const api = await bed.start({ env });
  const sockets: Socket[] = [];
  for (let n = 0; n < 201; n += 1) sockets.push(await begin(api, '192.0.2.1', 'Content-Length: 3', 'x'));
  const refused = await Promise.race(sockets.map(answerOn));
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(JSON.parse(refused.body)).toMatchObject({
    code: 'overloaded',
    detail: expect.stringContaining('200 of your requests are still being sent'),
  });
  expect((await post(api, '192.0.2.2', 5)).status).toBe(201);
  sockets[0]!.write('xx');
});

async function inFlight(metricsUrl: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(/^http_body_bytes\{[^}]*kind="in_flight"[^}]*\} (\S+)$/m.exec(text)?.[1]);
}

it('the files that a form keeps of another paste count, although the form is short', async () => {
  const api = await bed.start({ env });
  const files = [
    { name: 'a', content: 'a'.repeat(100_000) },
    { name: 'b', content: 'b' },
  ];
  const { short_code: code } = (await (await postJson(api.url, { files })).json()) as { short_code: string };
  await upload(bed.db, bed.store, code, files.map(({ content }) => content).join(''));
  const keep = async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ files_of: code, keep_0: 'on', keep_1: 'on' }))
      body.append(name, value);
    const headers = { Accept: 'text/html', 'x-forwarded-for': '192.0.2.2' };
    return (await fetch(api.url, { method: 'POST', headers, body })).status;
  };

  const large = await begin(api, '192.0.2.1', 'Content-Length: 250000', 'x'.repeat(200_000));
  await held(api, 200_000);
  expect(await keep()).toBe(503);
  large.resetAndDestroy();
  await held(api, 0);
  expect(await keep()).toBe(201);
  await held(api, 0);
});
