import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestAws, type TestAws } from '@pasteflow/dev-stack/testing';
import { attachmentAs } from '../src/attachment.ts';
import { createObjectStore, type ObjectStore } from '../src/index.ts';

let stack: TestAws;
let store: ObjectStore;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  store = createObjectStore({
    region: 'us-east-1',
    endpoint: stack.aws.endpoint,
    bucket: 'pasteflow',
    maxAttempts: 1,
    requestTimeoutMs: 5000,
  });
  const content = Buffer.from('content');
  await store.put('jobs/x', content, { sha256: createHash('sha256').update(content).digest() });
});

afterAll(async () => {
  store?.close();
  await stack?.stop();
});

describe('a presigned URL', () => {
  it('downloads the object under the requested name, without credentials', async () => {
    const url = await store.presign('jobs/x', {
      expiresInSeconds: 300,
      downloadName: 'größe "1".zip',
      contentType: 'application/zip',
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('content');
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="gr__e _1_.zip"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.zip`,
    );
  });

  it('expires at the requested time, and contains no secret', async () => {
    const url = new URL(await store.presign('jobs/x', { expiresInSeconds: 300, downloadName: 'x.zip' }));
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300');
    expect(url.pathname).toBe('/pasteflow/jobs/x');
    expect(url.href).not.toContain(String(process.env.AWS_SECRET_ACCESS_KEY) + '&');
  });
});

describe('a presigned URL for clients that reach S3 under another address', () => {
  it('is signed for that address, and downloads from it', async () => {
    const elsewhere = stack.aws.endpoint.replace('127.0.0.1', 'localhost');
    const inside = createObjectStore({
      region: 'us-east-1',
      endpoint: 'http://s3.inside.invalid:9000',
      publicEndpoint: elsewhere,
      bucket: 'pasteflow',
      maxAttempts: 1,
      requestTimeoutMs: 5000,
    });
    const url = new URL(await inside.presign('jobs/x', { expiresInSeconds: 300, downloadName: 'x.zip' }));
    expect(url.origin).toBe(elsewhere);
    expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host');
    const answer = await fetch(url);
    expect(await answer.text()).toBe('content');
    inside.close();
  });
});

describe('the name of a download', () => {
  it.each([
    ['export.zip', `attachment; filename="export.zip"`],
    ['my export (1).tar.gz', `attachment; filename="my export (1).tar.gz"`],
    ['a"b\\c/d.zip', `attachment; filename="a_b_c_d.zip"; filename*=UTF-8''a%22b_c_d.zip`],
    ['100%.zip', `attachment; filename="100_.zip"; filename*=UTF-8''100%25.zip`],
    ["it's*(x).zip", `attachment; filename="it's*(x).zip"`],
    [
      "日本's(*).zip",
      `attachment; filename="__'s(*).zip"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%27s%28%2A%29.zip`,
    ],
    ['\ud800.zip', `attachment; filename="_.zip"; filename*=UTF-8''%EF%BF%BD.zip`],
  ])('turns %j into %s', (name, expected) => {
    expect(attachmentAs(name)).toBe(expected);
  });

  it('is always one line of ASCII', () => {
    for (let code = 0; code < 0x300; code += 1)
      expect(attachmentAs(`a${String.fromCharCode(code)}\r\nSet-Cookie: b`)).toMatch(/^[\x20-\x7e]+$/);
  });
});
