import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy, startTestAws, withHeader, type TestAws } from '@pasteflow/dev-stack/testing';
import { createObjectStore, reasonOfS3Error, type ObjectStore } from '../src/index.ts';

let stack: TestAws;
let proxy: FaultProxy;
let store: ObjectStore;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  proxy = await FaultProxy.start(stack.aws.endpoint);
});

afterEach(async () => {
  proxy.clear();
  for await (const page of store.list('')) await store.deleteMany(page.map(({ key }) => key));
  proxy.requests.length = 0;
  store.close();
});

afterAll(async () => {
  await proxy?.stop();
  await stack?.stop();
});

const open = (requests: 'direct' | 'sdk', onDirectRefused?: (error: unknown) => void) =>
  createObjectStore({
    region: 'us-east-1',
    endpoint: proxy.url,
    bucket: 'pasteflow',
    maxAttempts: 1,
    requestTimeoutMs: 60_000,
    requests,
    onDirectRefused,
  });

const content = Buffer.from('the content');
const large = randomBytes(9 * 1024 * 1024); // two parts
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
const put = (bytes = content) => store.put('x', bytes, { sha256: sha256(bytes) });
const putStream = (bytes: Buffer) =>
  store.putStream('x', Readable.from([bytes]), { contentType: 'application/zip' });
const failureOf = (outcome: Promise<unknown>) => outcome.catch((error: unknown) => error);
const read = async () => buffer((await store.get('x'))!.body);
const find = (bytes: Buffer) =>
  store.findContent('x', {
    sizeBytes: bytes.length,
    sha256: sha256(bytes),
    signal: new AbortController().signal,
  });

const OBJECT = { method: 'PUT', path: /^\/pasteflow\/x(\?x-id=PutObject)?$/ };
const COMPLETE = { method: 'POST', path: /uploadId=/ };
const READ = { method: 'GET', path: /^\/pasteflow\/x/ };

const withEtag = (etag: string) => withHeader('ETag', etag);
const withoutLength = withHeader('Content-Length', null);

/** S3 encrypts with KMS, and its ETags are no MD5. */
const KMS_ETAG = '"d1b7a1a1f33c4d0f9d8d4c5b6a7f8e90"';

describe('a store that refuses direct requests', () => {
  const isDirect = (headers: Record<string, unknown>) =>
    !String(headers['user-agent']).startsWith('aws-sdk-js/');
  const refuse = (status: number, name: string) =>
    proxy.rule(
      { headers: isDirect },
      { kind: 'answer', status, body: `<Error><Code>${name}</Code><Message>No.</Message></Error>` },
    );

  it.each([
    [403, 'SignatureDoesNotMatch'],
    [400, 'InvalidArgument'],
    [501, 'NotImplemented'],
  ])('with %i %s gets those of the SDK from then on, and says so once', async (status, name) => {
    const refusals: unknown[] = [];
    store = open('direct', (error) => refusals.push(error));
    refuse(status, name);
    await Promise.all([put(), put()]);
    await put();
    expect((await read()).equals(content)).toBe(true);
    expect(refusals).toMatchObject([{ name }]);
    expect(proxy.requests.filter(({ headers }) => isDirect(headers)).length).toBeLessThanOrEqual(2);
  });

  it('for a body that arrived damaged gets no other one', async () => {
    const refusals: unknown[] = [];
    store = open('direct', (error) => refusals.push(error));
    refuse(400, 'XAmzContentSHA256Mismatch');
    expect(await failureOf(put())).toMatchObject({ name: 'XAmzContentSHA256Mismatch' });
    expect([proxy.requests.length, refusals]).toEqual([1, []]);
  });

  it('and those of the SDK, too, gets direct ones as before', async () => {
    const refusals: unknown[] = [];
    store = open('direct', (error) => refusals.push(error));
    await put();
    proxy.rule({ method: 'GET' }, { kind: 'fail', status: 403 }, 2);
    expect(await failureOf(store.get('x'))).toMatchObject({ code: 'dependency_unavailable' });
    expect((await read()).equals(content)).toBe(true);
    expect(isDirect(proxy.requests.at(-1)!.headers)).toBe(true);
    expect(refusals).toEqual([]);
  });
});

describe.each(['direct', 'sdk'] as const)('with %s requests', (requests) => {
  beforeEach(() => {
    store = open(requests);
  });

  describe('a put that S3 answers with 200', () => {
    it.each([
      ['nothing', null],
      ['other bytes', Buffer.from('THE CONTENT')],
      ['fewer bytes', content.subarray(1)],
      ['more bytes', Buffer.from('the content and more')],
    ])('but of which it has %s fails, with a reason for the owner', async (_name, found) => {
      if (found !== null) await put(found);
      const reason =
        'storage unavailable: S3 answered that it has stored the object, but does not have it with these bytes';
      proxy.rule(OBJECT, { kind: 'answer', status: 200 });
      expect(reasonOfS3Error(await failureOf(put()))).toBe(reason);
      const failure = await failureOf(putStream(content));
      expect(failure).toMatchObject({
        code: 'dependency_unavailable',
        cause: { name: 'ObjectNotStoredError' },
      });
    });

    it('is not read back when its ETag is the MD5 of the content, in any spelling', async () => {
      const md5 = createHash('md5').update(content).digest('hex');
      for (const etag of [md5, `"${md5}"`, `"${md5.toUpperCase()}"`]) {
        proxy.rule(OBJECT, withEtag(etag), 1);
        await put();
      }
      expect(proxy.requests.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT']);
    });

    it.each([KMS_ETAG, '"not-hex"', ''])('and the ETag %j is read back once', async (etag) => {
      proxy.rule(OBJECT, withEtag(etag));
      await put();
      expect(await putStream(content)).toBe(content.length);
      expect(proxy.requests.map(({ method }) => method)).toEqual(['PUT', 'GET', 'PUT', 'GET']);
      const gzip = gzipSync(content);
      await store.put('x', gzip, { sha256: sha256(gzip), encoding: 'gzip' }); // read as it is
    });

    it.each([
      [503, 'storage unavailable', 'SlowDown'],
      [403, 'storage refused', 'AccessDenied'],
    ])('fails with a reason of its own when S3 answers %i to the read back', async (status, kind, name) => {
      proxy.rule(OBJECT, withEtag(KMS_ETAG));
      proxy.rule(READ, { kind: 'fail', status });
      expect(reasonOfS3Error(await failureOf(put()))).toBe(
        `${kind}: S3 stored the object, but the worker could not read it back: S3 answered ${status} ${name}`,
      );
    });
  });

  it('reads an object whose answer has no Content-Length', async () => {
    await put();
    proxy.rule(READ, withoutLength);
    const object = (await store.get('x'))!;
    expect(object).toMatchObject({ contentLength: null, isPart: false });
    expect((await buffer(object.body)).equals(content)).toBe(true);
    const part = (await store.get('x', { range: { start: 4, end: 6 } }))!;
    expect(part).toMatchObject({ contentLength: null, isPart: true });
    expect((await buffer(part.body)).toString()).toBe('con');
    expect(await find(content)).toEqual({ encoding: null, bytes: content.length });
  });

  describe('a store that refuses', () => {
    it('every checksum header, as Backblaze does: stores, reads, finds and deletes', async () => {
      const isChecksum = (name: string) => /^x-amz-(sdk-)?checksum-/.test(name);
      proxy.rule(
        { headers: (headers) => Object.keys(headers).some(isChecksum) },
        {
          kind: 'answer',
          status: 400,
          body: `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Error><Code>InvalidArgument</Code><Message>Unsupported header 'x-amz-checksum-sha256' received for this API call.</Message></Error>`,
        },
      );
      await put();
      expect(await find(content)).toMatchObject({ bytes: content.length });
      for (const bytes of [content, large]) {
        await putStream(bytes);
        expect((await read()).equals(bytes)).toBe(true);
      }
      expect(await store.deleteMany(['x'])).toEqual([]);
      expect(await store.get('x')).toBeNull();
    });

    it('deletions without Content-MD5, as MinIO does: deletes', async () => {
      proxy.rule(
        { method: 'POST', path: /\?delete/, headers: (headers) => headers['content-md5'] === undefined },
        {
          kind: 'answer',
          status: 400,
          body: `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>MissingContentMD5</Code><Message>Missing required header for this request: Content-Md5.</Message></Error>`,
        },
      );
      await put();
      expect(await store.deleteMany(['x', 'ä/€ "&<'])).toEqual([]);
      expect(await store.get('x')).toBeNull();
      const { headers, body } = proxy.matching({ method: 'POST', path: /\?delete/ })[0]!;
      expect(headers['content-md5']).toBe(createHash('md5').update(body!).digest('base64'));
      expect(headers.authorization).toContain('content-md5');
    });

    it('every put without Content-MD5, as AWS does for a bucket with object lock: stores a text', async () => {
      proxy.rule(
        { method: 'PUT', headers: (headers) => headers['content-md5'] === undefined },
        { kind: 'fail', status: 400 },
      );
      await store.writeText('x', 'a text with ä', { onlyIfAbsent: false });
      expect((await store.readText('x')).text).toBe('a text with ä');
      const { headers } = proxy.matching({ method: 'PUT' })[0]!;
      expect(headers['content-md5']).toBe(createHash('md5').update('a text with ä').digest('base64'));
    });

    it.each([
      [501, 'NotImplemented', 'A header you provided implies functionality that is not implemented.'],
      [405, 'ERRLakeFSNotSupported', 'This operation is not supported in LakeFS'],
    ])('to list multipart uploads with %i %s: has none to abort', async (status, code, message) => {
      proxy.rule(
        { method: 'GET', path: /\?(.*&)?uploads/ },
        { kind: 'answer', status, body: `<Error><Code>${code}</Code><Message>${message}</Message></Error>` },
      );
      const pages = [];
      for await (const page of store.listMultipartUploads('jobs/')) pages.push(page);
      expect(pages).toEqual([]);
      expect(proxy.matching({ method: 'GET', path: /uploads/ })).toHaveLength(1);
    });
  });
});

describe('a multipart upload that S3 completes with 200', () => {
  beforeEach(() => {
    store = open('sdk');
  });

  it('but does not have, or not with this size, fails', async () => {
    proxy.rule(COMPLETE, { kind: 'answer', status: 200, body: '<CompleteMultipartUploadResult/>' });
    const expected = { code: 'dependency_unavailable', cause: { name: 'ObjectNotStoredError' } };
    expect(await failureOf(putStream(large))).toMatchObject(expected);
    await put();
    expect(await failureOf(putStream(large))).toMatchObject(expected);
  });

  it('is looked at only when its ETag is not that of its parts', async () => {
    await putStream(large);
    expect(proxy.matching({ method: 'HEAD' })).toHaveLength(0);
    proxy.rule(COMPLETE, {
      kind: 'change',
      change: (answer) => ({
        ...withHeader('Content-Length', null).change(answer),
        body: Buffer.from(
          answer.body.toString().replace(/[\da-f]{32}-2/, '00000000000000000000000000000000-2'),
        ),
      }),
    });
    expect(await putStream(large)).toBe(large.length);
    expect(proxy.matching({ method: 'HEAD' })).toHaveLength(1);
  });
});

it('an object store is not made where Node has no MD5, so that a service does not start', () => {
  // In a process of its own: Node keeps an algorithm that it has used.
  const script = `import { setFips } from 'node:crypto';
    setFips(true);
    const { createObjectStore } = await import(${JSON.stringify(import.meta.resolve('../src/index.ts'))});
    createObjectStore({ region: 'us-east-1', bucket: 'pasteflow', maxAttempts: 1, requestTimeoutMs: 5000 });`;
  const { status, stderr } = spawnSync(process.execPath, [
    '--conditions=source',
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(String(stderr)).toContain('Error: Node has no MD5, which each put to S3 needs (Content-MD5).');
  expect(status).toBe(1);
});
