import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestAws, type TestAws } from '@pasteflow/dev-stack/testing';
import { createObjectStore, type ObjectStore, type OpenUpload } from '../src/index.ts';

let stack: TestAws;
let client: S3Client;
let store: ObjectStore;

beforeAll(async () => {
  process.env.AWS_ACCESS_KEY_ID = 'test';
  process.env.AWS_SECRET_ACCESS_KEY = 'test';
  stack = await startTestAws();
  const aws = { region: 'us-east-1', endpoint: stack.aws.endpoint };
  client = new S3Client({ ...aws, forcePathStyle: true });
  store = createObjectStore({ ...aws, bucket: 'pasteflow', maxAttempts: 1, requestTimeoutMs: 5000 });
});

afterAll(async () => {
  client?.destroy();
  store?.close();
  await stack?.stop();
});

async function begin(key: string): Promise<string> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: 'pasteflow', Key: key }));
  return UploadId as string;
}

async function listed(prefix: string): Promise<(readonly OpenUpload[])[]> {
  const pages = [];
  for await (const page of store.listMultipartUploads(prefix)) pages.push(page);
  return pages;
}

describe('unfinished multipart uploads', () => {
  it('are listed by prefix in pages, including several of one key', async () => {
    const before = Date.now();
    const keys = Array.from(
      { length: 1003 },
      (_, n) => `jobs/a/${String(Math.floor(n / 3)).padStart(4, '0')}`,
    );
    for (let start = 0; start < keys.length; start += 50)
      await Promise.all(keys.slice(start, start + 50).map(begin));
    await begin('jobs/b/x');
    const pages = await listed('jobs/a/');
    expect(pages.map((page) => page.length)).toEqual([1000, 3]);
    const uploads = pages.flat();
    expect(uploads.map(({ key }) => key)).toEqual(keys);
    expect(new Set(uploads.map(({ uploadId }) => uploadId)).size).toBe(1003);
    for (const { initiatedAt } of uploads)
      expect(initiatedAt.getTime()).toBeGreaterThanOrEqual(before - 1000);
  });

  it('are aborted, and a missing one counts as aborted', async () => {
    const upload = { key: 'jobs/c/x', uploadId: await begin('jobs/c/x') };
    await begin('jobs/c/x');
    await store.abortMultipartUpload(upload);
    expect((await listed('jobs/c/')).flat()).toHaveLength(1);
    await store.abortMultipartUpload(upload);
    expect((await listed('jobs/c/')).flat()).toHaveLength(1);
  });

  it('cause a typed error when S3 does not answer', async () => {
    const nowhere = createObjectStore({
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:1',
      bucket: 'pasteflow',
      maxAttempts: 1,
      requestTimeoutMs: 500,
    });
    const expected = { code: 'dependency_unavailable', dependency: 's3' };
    await expect(nowhere.listMultipartUploads('').next()).rejects.toMatchObject(expected);
    await expect(nowhere.abortMultipartUpload({ key: 'x', uploadId: 'y' })).rejects.toMatchObject(expected);
    nowhere.close();
  });
});
