import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createObjectStore, describeS3Error, type ObjectStore } from '../src/index.ts';

const MINUTES = 60_000;

/** What the clocks of S3 and of this process are ahead of the real time. */
let aheadOfS3 = 0;
let aheadHere = 0;
let refused = 0;
let sent: string[] = [];
let server: Server;
let store: ObjectStore;
const realNow = Date.now;

beforeEach(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  [aheadOfS3, aheadHere, refused, sent] = [0, 0, 0, []];
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadHere);
  server = createServer((req, res) => {
    req.resume().once('end', () => {
      const now = realNow() + aheadOfS3;
      res.setHeader('date', new Date(now).toUTCString());
      const isInTime = Math.abs(timeOf(String(req.headers['x-amz-date'])) - now) < 15 * MINUTES;
      sent.push(`${req.method} ${isInTime ? 'in time' : 'too early or too late'}`);
      if (isInTime) return res.setHeader('etag', `"${md5('x')}"`).end();
      refused += 1;
      res.writeHead(403).end(
        `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>RequestTimeTooSkewed</Code><Message>The difference between the request time and the current time is too large.</Message></Error>`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  store = createObjectStore({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket: 'pasteflow',
    maxAttempts: 1, // as of the upload-worker: each further attempt would be one of the paste
    requestTimeoutMs: 60_000,
    requests: 'direct',
  });
});

afterEach(async () => {
  jest.restoreAllMocks();
  store.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const timeOf = (amzDate: string) =>
  Date.parse(amzDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

async function putAndGet(): Promise<void> {
  const content = Buffer.from('x');
  await store.put('x', content, { sha256: createHash('sha256').update(content).digest() });
  (await store.get('x'))!.body.destroy();
}

describe('puts and gets, each with one attempt', () => {
  it.each([
    ["that of S3 is 20 minutes ahead, then right, then behind, without this process's", [20, 0, -20], [0]],
    ["that of this process is ahead, then right, then behind, without S3's", [0], [20, 0, -20]],
    ['both move, also in opposite directions', [20, 0, 20, -20], [20, -20, 0, 20]],
  ])('succeed when a clock is set: %s', async (_name, s3, here) => {
    for (let step = 0; step < Math.max(s3.length, here.length); step += 1) {
      aheadOfS3 = (s3[step] ?? s3[0]!) * MINUTES;
      aheadHere = (here[step] ?? here[0]!) * MINUTES;
      refused = 0;
      for (let n = 0; n < 3; n += 1) await putAndGet();
      expect(refused).toBeLessThanOrEqual(1);
    }
  });

  it('succeed all when they were under way when the clock was found to be wrong', async () => {
    await putAndGet();
    aheadOfS3 = 20 * MINUTES;
    await Promise.all(Array.from({ length: 10 }, putAndGet));
    aheadOfS3 = 0;
    await Promise.all(Array.from({ length: 10 }, putAndGet));
  });

  it('are sent once more at most, and end with the refusal of S3', async () => {
    server.removeAllListeners('request').on('request', (req, res) => {
      req.resume();
      sent.push(req.method ?? '');
      aheadOfS3 += 20 * MINUTES; // a clock that runs away
      res.writeHead(403, { date: new Date(realNow() + aheadOfS3).toUTCString() });
      res.end('<Error><Code>RequestTimeTooSkewed</Code></Error>');
    });
    const failure = await putAndGet().catch((error: unknown) => error);
    expect(describeS3Error(failure)).toBe('S3 answered 403 RequestTimeTooSkewed');
    expect(sent).toEqual(['PUT', 'PUT']);
  });
});

it('URLs are signed with the time of S3', async () => {
  aheadOfS3 = 20 * MINUTES;
  await putAndGet();
  const url = new URL(await store.presign('x', { expiresInSeconds: 60, downloadName: 'x' }));
  const signedAt = timeOf(url.searchParams.get('X-Amz-Date')!);
  expect(Math.abs(signedAt - realNow() - aheadOfS3)).toBeLessThan(5 * MINUTES);
});
