import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { memoryOf, resetPeakMemory, startCluster, type Cluster, type Service } from '../src/index.ts';

const MIB = 1024 * 1024;
/** An api process with a limit of 512 MiB takes 295 to 410 here, and more than 2,000 when it ignores its budget. */
const MAX_RESIDENT_MIB = 480;
const SENDERS = 200;
/** As large as a paste may be. */
const CONTENT = Buffer.alloc(10 * MIB, 'pasteflow\n');

let cluster: Cluster;
let api: Service;
beforeAll(async () => {
  cluster = await startCluster({ apis: 0, workers: 0, janitors: 0, keepRequests: false });
  // The budget and the heap of a process with 512 MiB. Each sender has an address of its own.
  api = await cluster.add('api', {
    TRUST_PROXY: '1',
    ANONYMOUS_PASTES: 'allow',
    MAX_BODY_BYTES_IN_FLIGHT: String(64 * MIB),
    NODE_OPTIONS: '--max-heap-size=256',
  });
});
afterAll(() => cluster.stop());

const form = (content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('--part\r\nContent-Disposition: form-data; name="content"\r\n\r\n'),
    content,
    Buffer.from('\r\n--part--\r\n'),
  ]);

/** @returns the status of the answer; 0: the api cut the connection while the body was sent */
async function send(sender: number, path: string, type: string, body: Buffer): Promise<number> {
  const sending = request(`${cluster.http().url}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': type,
      'content-length': body.length,
      'x-forwarded-for': `192.0.${Math.floor(sender / 200)}.${sender % 200}`,
    },
  });
  sending.end(body);
  try {
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    sending.on('error', () => {}); // the rest of a refused body
    answer.resume();
    return answer.statusCode ?? 0;
  } catch {
    return 0;
  }
}

describe('an api with the budget of 512 MiB', () => {
  it.each([
    ['raw', '/', 'text/plain', () => CONTENT],
    ['multipart', '/', 'multipart/form-data; boundary=part', () => form(CONTENT)],
    [
      'JSON',
      '/v1/pastes',
      'application/json',
      () => Buffer.from(JSON.stringify({ content: CONTENT.toString() })),
    ],
  ])(
    'stays below its limit of memory while 200 callers send 10 MiB at once: %s',
    async (_, path, type, body) => {
      const bytes = body();
      await resetPeakMemory(api.pid);
      const statuses = await Promise.all(
        Array.from({ length: SENDERS }, (_each, sender) => send(sender, path, type, bytes)),
      );
      const count = (status: number): number => statuses.filter((each) => each === status).length;
      const { peak } = await memoryOf(api.pid);
      expect(peak / MIB).toBeLessThan(MAX_RESIDENT_MIB);
      expect(count(201)).toBeGreaterThan(0);
      expect(count(201) + count(503) + count(0)).toBe(SENDERS);
      expect((await fetch(`${cluster.http().url}/healthz`)).status).toBe(200);
    },
    300_000,
  );
});
