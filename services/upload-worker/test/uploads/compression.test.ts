import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { objectKeyOf } from '@pasteflow/domain';
import { createPaste } from '@pasteflow/postgres';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { createQueue, sendUploads } from '@pasteflow/sqs';
import { newPaste } from '../support/database.ts';
import { until, useBench } from '../support/bench.ts';

const bench = useBench();

jest.setTimeout(240_000);

let store: ObjectStore;
beforeAll(() => {
  const { endpoint } = bench.stack.aws;
  store = createObjectStore({
    region: 'us-east-1',
    endpoint,
    bucket: 'pasteflow',
    maxAttempts: 1,
    requestTimeoutMs: 60_000,
  });
});
afterAll(() => store?.close());

const start = (env: Record<string, string> = {}) =>
  bench.start([], { env: { UPLOAD_WORKER_QUEUES: 'uploads', ...env } });

/** Creates a paste with its message, as the api does. */
async function submit(content: Buffer): Promise<string> {
  const shortCode = randomBytes(5).toString('hex');
  const { executionId } = (await createPaste(bench.db, newPaste(shortCode, content)))!;
  const inline = content.length <= 45_056 ? content : null;
  const queue = createQueue(bench.sqs, 'pasteflow-uploads');
  await sendUploads(bench.sqs, queue, [{ executionId, shortCode, content: inline, context: {} }]);
  return shortCode;
}

async function untilProcessed(shortCode: string) {
  const read = () =>
    bench.db
      .selectFrom('pastes')
      .select(['status', 'stored_encoding'])
      .where('short_code', '=', shortCode)
      .executeTakeFirstOrThrow();
  return await until(read, ({ status }) => status !== 'IN_PROGRESS');
}

/** What is in the bucket: the encoding and the size of the object, and whether it has this content. */
async function stored(shortCode: string, content: Buffer) {
  const { body, encoding, contentLength } = (await store.get(objectKeyOf(shortCode)))!;
  const bytes = await buffer(body);
  const found = encoding === null ? bytes : gunzipSync(bytes);
  return { encoding, contentLength, isContent: found.equals(content) };
}

const text = (bytes: number): Buffer => Buffer.alloc(bytes, 'The quick brown fox jumps over the lazy dog.\n');

describe('a worker', () => {
  it.each([
    ['a text of 2 KB', text(2048), 'gzip'],
    ['a text that does not travel inline', text(45_057), 'gzip'],
    ['a text of 10 MiB', text(10_485_760), 'gzip'],
    ['a short text', text(511), null],
    ['bytes that are compressed already', randomBytes(100_000), null],
  ] as const)('stores %s as gzip where that pays, and its row says so', async (_name, content, encoding) => {
    const worker = await start();
    const code = await submit(content);
    expect(await untilProcessed(code)).toEqual({ status: 'PROCESSED', stored_encoding: encoding });
    const object = await stored(code, content);
    expect(object).toMatchObject({ encoding, isContent: true });
    if (encoding !== null) expect(object.contentLength).toBeLessThan(content.length / 10);
    const counted = async (name: string) =>
      Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(await worker.metrics.text())?.[1]);
    await until(
      () => counted('upload_bytes_total'), // counted after the commit
      (bytes) => bytes === content.length,
    );
    expect(await counted('upload_stored_bytes_total')).toBe(object.contentLength);
  });

  it('stores each content as it is with CONTENT_COMPRESSION=off', async () => {
    await start({ CONTENT_COMPRESSION: 'off' });
    const code = await submit(text(2048));
    expect(await untilProcessed(code)).toEqual({ status: 'PROCESSED', stored_encoding: null });
    expect(await stored(code, text(2048))).toEqual({ encoding: null, contentLength: 2048, isContent: true });
  });
});

describe('a put that was stored, but whose answer was lost', () => {
  it.each([
    ['gzip', 'off', null],
    ['off', 'gzip', 'gzip'],
  ] as const)(
    'with %s, is repeated by another worker with %s: row and object agree',
    async (first, second, encoding) => {
      const dying = await start({ CONTENT_COMPRESSION: first });
      const held = bench.proxy.hold({ method: 'PUT', path: /pastes/ });
      const code = await submit(text(2048));
      const response = await (await held).forwardAndHoldResponse();
      await dying.stop(); // ends its attempt as interrupted
      response.drop();
      await start({ CONTENT_COMPRESSION: second });
      expect(await untilProcessed(code)).toEqual({ status: 'PROCESSED', stored_encoding: encoding });
      expect(await stored(code, text(2048))).toMatchObject({ encoding, isContent: true });
    },
  );

  it('six times, is found in the bucket, and the row says how the object is compressed', async () => {
    await start({ UPLOAD_RETRY_DELAYS_MS: '1,1,1,1,1' });
    let held = bench.proxy.hold({ method: 'PUT', path: /pastes/ });
    const code = await submit(text(2048));
    for (let put = 1; put <= 6; put += 1) {
      const response = await (await held).forwardAndHoldResponse();
      held = bench.proxy.hold({ method: 'PUT', path: /pastes/ });
      response.drop();
    }
    expect(await untilProcessed(code)).toEqual({ status: 'PROCESSED', stored_encoding: 'gzip' });
    expect(await stored(code, text(2048))).toMatchObject({ encoding: 'gzip', isContent: true });
    expect(bench.proxy.matching({ method: 'PUT', path: /pastes/ })).toHaveLength(6);
  });
});

describe('a put that S3 answers with 200, and has not stored,', () => {
  it('is a failed attempt with a reason, keeps the payload, and is repeated', async () => {
    await start({ UPLOAD_RETRY_DELAYS_MS: '1,1,1,1,1' });
    bench.proxy.rule({ method: 'PUT', path: /pastes/ }, { kind: 'answer', status: 200 }, 2);
    const code = await submit(text(2048));
    expect(await untilProcessed(code)).toEqual({ status: 'PROCESSED', stored_encoding: 'gzip' });
    expect(await stored(code, text(2048))).toMatchObject({ encoding: 'gzip', isContent: true });
    const attempts = await bench.db
      .selectFrom('task_executions')
      .innerJoin('pastes', 'pastes.id', 'task_executions.subject_id')
      .where('short_code', '=', code)
      .orderBy('attempt')
      .select('error')
      .execute();
    const notStored =
      'storage unavailable: S3 answered that it has stored the object, but does not have it with these bytes';
    expect(attempts.map(({ error }) => error)).toEqual([notStored, notStored, null]);
  });
});
