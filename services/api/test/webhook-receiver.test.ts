import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { webhookEventsFor } from '@pasteflow/domain';
import { signatureHeaders, webhookSecret } from '@pasteflow/service-kit';
import { wholeDocument } from './support/document.ts';
import { dial } from './support/http.ts';
import { until } from './support/until.ts';

const key = 'the key of webhooks in these tests';
const endpointId = randomUUID();
const eventId = randomUUID();
const event = {
  type: 'paste.stored',
  timestamp: '2026-11-28T12:00:00.000Z',
  data: { short_code: 'q7Zk2Lm9Xa' },
};
const body = JSON.stringify(event);

/** What an attempt is sent with. */
const signed = ({ generation = 1, rotatedAt = null as Date | null, now = new Date() } = {}) =>
  signatureHeaders(key, { endpointId, generation, rotatedAt }, { eventId, body, now });

const guide = readFile(new URL('../../../docs/http-api.md', import.meta.url), 'utf8');

describe('the receiver of docs/http-api.md', () => {
  let receiver: ChildProcess;
  let url: string;
  const lines: string[] = [];

  beforeAll(async () => {
    const code = /^## Webhooks\n[^]*?^```js\n([^]*?)^```/m.exec(await guide)![1]!;
    const anyPort = code.replace('.listen(8080)', ".listen(0, '127.0.0.1', tellPort)");
    expect(anyPort).not.toBe(code);
    const script = `${anyPort}\nfunction tellPort() { console.log(this.address().port); }`;
    receiver = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { WEBHOOK_SECRET: webhookSecret(key, endpointId, 1) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output = createInterface(receiver.stdout!);
    const [port] = (await once(output, 'line')) as [string];
    output.on('line', (line) => lines.push(line));
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    if (receiver?.kill()) await once(receiver, 'exit');
  });

  const send = async (headers: Record<string, string>, sent = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: sent })).status;

  it('takes what this service has signed, also for a day after a rotation', async () => {
    expect(await send(signed())).toBe(204);
    expect(await send(signed({ generation: 2, rotatedAt: new Date() }))).toBe(204);
    await until(() => Promise.resolve(lines.some((line) => line.includes(eventId))));
  });

  it('refuses everything else', async () => {
    const good = signed();
    const { 'webhook-signature': _, ...unsigned } = good;
    for (const headers of [
      {},
      unsigned,
      { ...good, 'webhook-id': randomUUID() },
      { ...good, 'webhook-timestamp': String(Number(good['webhook-timestamp']) + 1) },
      { ...good, 'webhook-signature': 'v1,AAAA' },
      { ...good, 'webhook-signature': good['webhook-signature'].replace(/.$/, 'é') },
      signed({ now: new Date(Date.now() - 3_600_000) }),
      signed({ generation: 2, rotatedAt: new Date(Date.now() - 2 * 86_400_000) }),
    ])
      expect(await send(headers)).toBe(401);
    expect(await send(good, body.replace('stored', 'failed'))).toBe(401);
    const cut = await dial(Number(new URL(url).port));
    cut.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    cut.resetAndDestroy();
    expect(await send(good)).toBe(204);
  });
});

describe('the section `webhooks` of the OpenAPI document', () => {
  const { document, faultsOf } = wholeDocument();
  const at = ['webhooks', 'event', 'post', 'requestBody', 'content', 'application/json', 'schema'];

  it('has the body of each event of docs/http-api.md, and nothing more', async () => {
    const [, table = ''] = /^\| event[^\n]*\n\|[- |]+\n([^]*?)\n\n/m.exec(await guide)!;
    const told = table.split('\n').flatMap((row) => {
      const [, types, [about = ''] = []] = row
        .split('|')
        .map((cell) => cell.match(/[a-z]+[._][a-z_]+/g) ?? []);
      return types!.map((type) => ({ ...event, type, data: { [about]: 'x' } }));
    });
    expect(told.map(({ type }) => type).toSorted()).toEqual(webhookEventsFor('owner').toSorted());
    for (const each of [event, ...told]) {
      expect(faultsOf(each, ...at)).toEqual([]);
      expect(faultsOf({ ...each, data: { title: 'x' } }, ...at)).not.toEqual([]);
    }
  });

  it('has the headers that are signed', () => {
    const { webhooks } = document as unknown as {
      webhooks: { event: { post: { parameters: { name: string }[] } } };
    };
    expect(webhooks.event.post.parameters.map(({ name }) => name)).toEqual(Object.keys(signed()));
  });
});
