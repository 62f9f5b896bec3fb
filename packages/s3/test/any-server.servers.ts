// What Pasteflow asks of a server of S3, on the one at AWS_ENDPOINT_URL_S3: npm run proof -- servers.
// docs/deploy.md has the results. Creates a bucket of its own and removes it. Without an endpoint: AWS,
// with the credentials that the SDK finds.
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createObjectStore, type ObjectStore } from '../src/index.ts';

/* oxlint-disable node/no-process-env -- select the server */
const endpoint = process.env.AWS_ENDPOINT_URL_S3 || process.env.AWS_ENDPOINT_URL || undefined;
const region = process.env.AWS_REGION || 'us-east-1';
if (endpoint !== undefined) {
  process.env.AWS_ACCESS_KEY_ID ||= 'pasteflow';
  process.env.AWS_SECRET_ACCESS_KEY ||= 'pasteflow';
}
/* oxlint-enable node/no-process-env */

const bucket = `pasteflow-check-${randomBytes(6).toString('hex')}`;
const client = new S3Client({
  region,
  ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  expectContinueHeader: true,
});
/** The errors for which direct requests were left: with them, the SDK would pass the checks in their place. */
const refusals: unknown[] = [];
const open = (requests: 'direct' | 'sdk') =>
  createObjectStore({
    region,
    endpoint,
    bucket,
    maxAttempts: 1,
    requestTimeoutMs: 60_000,
    requests,
    onDirectRefused: (error) => refusals.push(error),
  });
let store: ObjectStore;

beforeAll(async () => {
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  store = open('sdk');
});
afterAll(async () => {
  for await (const page of store.listMultipartUploads(''))
    for (const upload of page) await store.abortMultipartUpload(upload);
  for await (const page of store.list('')) await store.deleteMany(page.map(({ key }) => key));
  const versions = await client.send(new ListObjectVersionsCommand({ Bucket: bucket })).catch(() => null);
  for (const { Key, VersionId } of [...(versions?.Versions ?? []), ...(versions?.DeleteMarkers ?? [])])
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key, VersionId }));
  await client.send(new DeleteBucketCommand({ Bucket: bucket }));
  store.close();
  client.destroy();
});

const digest = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest();
const sha256 = (bytes: Buffer) => digest('sha256', bytes);
const content = Buffer.from('the content');
const read = async (from: ObjectStore, key: string) => buffer((await from.get(key))!.body);
const statusOf = (error: unknown): number | undefined => {
  const { $metadata, cause } = error as {
    $metadata?: { httpStatusCode?: number };
    cause?: unknown;
  };
  return $metadata?.httpStatusCode ?? (cause === undefined ? undefined : statusOf(cause));
};
const refusal = (outcome: Promise<unknown>) =>
  outcome.then(
    () => 'accepted',
    (error: unknown) => statusOf(error) ?? error,
  );

describe.each(['direct', 'sdk'] as const)('%s requests', (requests) => {
  let own: ObjectStore;
  beforeAll(() => {
    own = open(requests);
  });
  afterAll(() => own.close());

  it('put, get, get a range, and find nothing', async () => {
    await own.put('pastes/x y+ä', content, { sha256: sha256(content) });
    expect((await read(own, 'pastes/x y+ä')).toString()).toBe('the content');
    const part = (await own.get('pastes/x y+ä', { range: { start: 4, end: 6 } }))!;
    expect([part.isPart, (await buffer(part.body)).toString()]).toEqual([true, 'con']);
    const whole = (await own.get('pastes/x y+ä', { range: { start: 100, end: 200 } }))!;
    expect((await buffer(whole.body)).length).toBe(content.length);
    expect(await own.get('pastes/none')).toBeNull();
    expect(refusals).toEqual([]);
  });

  it('put and get 10 MiB, and nothing', async () => {
    for (const bytes of [randomBytes(10 * 1024 * 1024), Buffer.alloc(0)]) {
      await own.put('pastes/long', bytes, { sha256: sha256(bytes) });
      expect((await read(own, 'pastes/long')).equals(bytes)).toBe(true);
    }
  });

  it('keep a Content-Encoding, and give the bytes as they were put', async () => {
    const gzip = gzipSync('the content '.repeat(100));
    await own.put('pastes/gzip', gzip, { sha256: sha256(gzip), encoding: 'gzip' });
    const object = (await own.get('pastes/gzip'))!;
    expect(object.encoding).toBe('gzip');
    expect((await buffer(object.body)).equals(gzip)).toBe(true);
  });

  it('answer a put with the MD5 as ETag, so that it is not read back', async () => {
    let readBack = 0;
    await own.put('pastes/etag', content, { sha256: sha256(content), onReadBack: () => (readBack += 1) });
    expect(readBack).toBe(0);
  });
});

describe('checks', () => {
  const putAs = (input: object, options: object = {}) => {
    const other = new S3Client({
      region,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      maxAttempts: 1,
      ...options,
    });
    return refusal(
      other.send(new PutObjectCommand({ Bucket: bucket, Key: 'pastes/checked', Body: content, ...input })),
    ).finally(() => other.destroy());
  };

  it('a wrong secret is refused', async () => {
    const wrong = { accessKeyId: String(process.env.AWS_ACCESS_KEY_ID), secretAccessKey: 'no such secret' };
    expect(await putAs({}, { credentials: wrong })).toBe(403);
  });

  it('a request without a signature is refused', async () => {
    const address =
      endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`;
    await store.put('pastes/x', content, { sha256: sha256(content) });
    expect((await fetch(`${address}/pastes/x`)).status).toBe(403);
  });

  it('a wrong Content-MD5 is refused', async () => {
    const md5 = digest('md5', Buffer.from('another')).toString('base64');
    expect(await putAs({ ContentMD5: md5 })).toBe(400);
  });

  it('a wrong SHA-256 is refused', async () => {
    const direct = open('direct');
    const wrong = sha256(Buffer.from('another'));
    expect(await refusal(direct.put('pastes/checked', content, { sha256: wrong }))).toBe(400);
    direct.close();
  });

  it('checksums of the SDK are accepted, with 100-continue', async () => {
    const long = randomBytes(3 * 1024 * 1024);
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: 'pastes/crc', Body: long, ChecksumAlgorithm: 'CRC32' }),
    );
    expect((await read(store, 'pastes/crc')).equals(long)).toBe(true);
  });

  it('a put that must not replace an object does not', async () => {
    await store.writeText('owner', 'first', { onlyIfAbsent: true });
    await store.writeText('owner', 'second', { onlyIfAbsent: true });
    expect((await store.readText('owner')).text).toBe('first');
    expect((await store.readText('owner')).serverTime).not.toBeNull();
  });
});

describe('parts', () => {
  it('a stream of several parts is stored, and one of one part', async () => {
    for (const bytes of [randomBytes(20 * 1024 * 1024), content]) {
      const body = Readable.from([bytes]);
      await store.putStream('jobs/archive', body, { contentType: 'application/zip' });
      expect((await read(store, 'jobs/archive')).equals(bytes)).toBe(true);
    }
    const { ContentType } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'jobs/archive' }));
    expect(ContentType).toBe('application/zip');
  });

  it('an upload that was broken off is listed, and gone after its end', async () => {
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'jobs/open' }),
    );
    await client.send(
      new UploadPartCommand({ Bucket: bucket, Key: 'jobs/open', UploadId, PartNumber: 1, Body: content }),
    );
    const listed = async () => {
      const uploads = [];
      for await (const page of store.listMultipartUploads('jobs/')) uploads.push(...page);
      return uploads.map(({ key }) => key);
    };
    expect(await listed()).toEqual(['jobs/open']);
    for await (const page of store.listMultipartUploads('jobs/'))
      for (const upload of page) await store.abortMultipartUpload(upload);
    expect(await listed()).toEqual([]);
  });
});

describe('keys', () => {
  const keys = ['B', 'a', 'Z9', 'z', '0', 'b', 'aB', 'ab', 'A', 'a0'].map((name) => `list/${name}`);

  it('are listed in the order of their bytes, in pages', async () => {
    for (const key of keys) await store.put(key, content, { sha256: sha256(content) });
    const listed: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: 'list/', MaxKeys: 3, ContinuationToken }),
      );
      listed.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    expect(listed).toEqual(keys.toSorted());
  });

  it('are deleted many at once, also those that are not there', async () => {
    const missing = Array.from({ length: 900 }, (_, n) => `list/missing-${n}`);
    expect(await store.deleteMany([...keys, ...missing, 'list/ä "&<'])).toEqual([]);
    for await (const page of store.list('list/')) expect(page).toEqual([]);
  });
});

describe('presigned URLs', () => {
  const sign = (expiresInSeconds: number) =>
    store.presign('jobs/signed', {
      expiresInSeconds,
      downloadName: 'größe.zip',
      contentType: 'application/zip',
    });

  it('download under the name and the type that they have, and in ranges', async () => {
    await store.put('jobs/signed', content, { sha256: sha256(content) });
    const answer = await fetch(await sign(60));
    expect([answer.status, await answer.text()]).toEqual([200, 'the content']);
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=.*gr%C3%B6%C3%9Fe.zip/);
    const part = await fetch(await sign(60), { headers: { range: 'bytes=4-6' } });
    expect([part.status, await part.text()]).toEqual([206, 'con']);
  });

  it('are refused with another signature, and after their time', async () => {
    const wrong = (await sign(60)).replace(/Signature=.{8}/, 'Signature=00000000');
    const short = await sign(1);
    await sleep(2500);
    expect([(await fetch(wrong)).status, [400, 403].includes((await fetch(short)).status)]).toEqual([
      403,
      true,
    ]);
  });
});

it('versions: a deleted object can be restored', async () => {
  await client.send(
    new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  await store.put('versions/x', content, { sha256: sha256(content) });
  await store.deleteMany(['versions/x']);
  expect(await store.get('versions/x')).toBeNull();
  for await (const deleted of store.listDeleted('versions/')) await store.restore(deleted);
  expect((await read(store, 'versions/x')).toString()).toBe('the content');
});

(endpoint?.startsWith('http:') === true ? it : it.skip)('connections are kept between requests', async () => {
  const { headers } = await new Promise<{ headers: Record<string, unknown> }>((resolve, reject) => {
    request(`${endpoint}/`, { headers: { connection: 'keep-alive' } }, (response) => {
      response.resume();
      resolve({ headers: response.headers });
    })
      .once('error', reject)
      .end();
  });
  expect(headers.connection).not.toBe('close');
});
