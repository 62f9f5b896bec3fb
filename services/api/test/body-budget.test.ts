import { describe, expect, it } from '@jest/globals';
import { SharedBudget } from '../src/budget/shared-budget.ts';
import { useApi } from './support/api.ts';
import { answerOn, dial, postRaw, problemOf } from './support/http.ts';
import { until } from './support/until.ts';

const bed = useApi();

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

describe('the bytes of bodies in flight', () => {
  it.each([
    ['a Content-Length', 'Content-Length: 400\r\n\r\nx'],
    ['chunks', `Transfer-Encoding: chunked\r\n\r\n190\r\n${'x'.repeat(400)}\r\n`],
  ])('are limited, and released when a client with %s disconnects', async (_name, started) => {
    const api = await bed.start({ env: { MAX_BODY_BYTES_IN_FLIGHT: '1000' } });
    const held = () => inFlight(api.metricsUrl);
    const slow = await dial(api.port);
    slow.write(`POST / HTTP/1.1\r\nHost: x\r\n${started}`);
    await until(held, (bytes) => bytes === 400);

    const refused = await dial(api.port);
    refused.write('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 200\r\n\r\n');
    const answer = await answerOn(refused);
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'overloaded' });
    expect(await problemOf(await postRaw(api.url, 'x'.repeat(200)))).toMatchObject({ code: 'overloaded' });
    expect((await postRaw(api.url, 'x'.repeat(100))).status).toBe(201);

    slow.resetAndDestroy();
    await until(held, (bytes) => bytes === 0);
    expect((await postRaw(api.url, 'x'.repeat(2000))).status).toBe(201);
    expect(await held()).toBe(0);
    expect(api.logs.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });

  it('are released after every outcome', async () => {
    const api = await bed.start({ env: { MAX_BODY_BYTES_IN_FLIGHT: '1000' } });
    const url = `${api.url}/v1/pastes`;
    const json = { 'content-type': 'application/json' };
    const form = { 'content-type': 'multipart/form-data; boundary=b' };
    for (const [headers, body] of [
      [{}, 'x'.repeat(900)],
      [json, '{"content":"x"}'],
      [json, '{'],
      [json, '{"content":1}'],
      [form, '--b'],
      [form, '--b\r\n'.repeat(100)],
    ] as const) {
      await fetch(url, { method: 'POST', headers, body });
      await until(
        () => inFlight(api.metricsUrl),
        (bytes) => bytes === 0,
      );
    }
  });
});

async function inFlight(metricsUrl: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Number(/^http_body_bytes\{[^}]*kind="in_flight"[^}]*\} (\S+)$/m.exec(text)?.[1]);
}
