import { createHash } from 'node:crypto';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { expectedSignature, sentSignature, startRecordingServer } from '@pasteflow/dev-stack/testing';
import { RequestSigner } from '@pasteflow/signed-requests';
import { DirectRequests, bucketAddress, objectPath } from '../src/direct-requests.ts';
import { describeS3Error } from '../src/index.ts';

const sha256 = (content: string) => createHash('sha256').update(content).digest();
const md5 = (content: string) => createHash('md5').update(content).digest();
const EMPTY = sha256('').toString('hex');

describe('the address of a bucket', () => {
  const addressOf = async (bucket: string, options = {}) => {
    const address = await bucketAddress(new S3Client({ region: 'eu-west-1', ...options }), bucket);
    return address && [address.url.origin, address.basePath, address.signingRegion];
  };

  it.each([
    ['pasteflow', {}, ['https://pasteflow.s3.eu-west-1.amazonaws.com', '', 'eu-west-1']],
    ['my.bucket', {}, ['https://s3.eu-west-1.amazonaws.com', '/my.bucket', 'eu-west-1']],
    [
      'pasteflow',
      { forcePathStyle: true },
      ['https://s3.eu-west-1.amazonaws.com', '/pasteflow', 'eu-west-1'],
    ],
    [
      'pasteflow',
      { useFipsEndpoint: true },
      ['https://pasteflow.s3-fips.eu-west-1.amazonaws.com', '', 'eu-west-1'],
    ],
    [
      'pasteflow',
      { endpoint: 'http://127.0.0.1:9000/base', forcePathStyle: true },
      ['http://127.0.0.1:9000', '/base/pasteflow', 'eu-west-1'],
    ],
    [
      'arn:aws:s3:us-west-2:123456789012:accesspoint/point',
      { useArnRegion: true },
      ['https://point-123456789012.s3-accesspoint.us-west-2.amazonaws.com', '', 'us-west-2'],
    ],
  ])('is that of the SDK: %s with %j', async (bucket, options, expected) => {
    expect(await addressOf(bucket, options)).toEqual(expected);
  });

  it('is none for a directory bucket, which needs another signature', async () => {
    expect(await addressOf('pasteflow--use1-az4--x-s3')).toBeNull();
  });
});

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, but for the examples with a
 * query, which our requests don't have.
 */
describe('the signatures that AWS publishes for S3', () => {
  const client = new S3Client({
    region: 'us-east-1',
    credentials: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
  });
  const signer = new RequestSigner(client.config, { service: 's3', region: 'us-east-1' });
  const url = new URL('https://examplebucket.s3.amazonaws.com');
  const now = Date.parse('2013-05-24T00:00:00Z');

  it.each([
    {
      name: 'a get of a range',
      request: {
        method: 'GET',
        path: '/test.txt',
        headers: { range: 'bytes=0-9', 'x-amz-content-sha256': EMPTY },
      },
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    {
      name: 'a put',
      request: {
        method: 'PUT',
        path: '/test%24file.text',
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        },
      },
      signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    },
  ] as const)('are ours: $name', async ({ request, signature }) => {
    const headers = { host: url.host, ...request.headers };
    const signed = await signer.sign({ ...request, headers }, now);
    expect(signed.authorization).toMatch(new RegExp(`Signature=${signature}$`));
  });
});

describe('a direct request', () => {
  const SECRET = 'a secret/+=';
  let s3: Awaited<ReturnType<typeof startRecordingServer>>;
  const opened: DirectRequests[] = [];
  beforeEach(async () => {
    s3 = await startRecordingServer();
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) each.close();
    await s3.stop();
  });

  interface Options {
    readonly basePath?: string;
    readonly credentials?: NonNullable<S3ClientConfig['credentials']>;
    readonly maxAttempts?: number;
    readonly requestTimeoutMs?: number;
  }

  function open({
    basePath = '',
    credentials,
    maxAttempts = 1,
    requestTimeoutMs = 5000,
  }: Options = {}): DirectRequests {
    const client = new S3Client({
      region: 'eu-west-1',
      maxAttempts,
      credentials: credentials ?? { accessKeyId: 'key', secretAccessKey: SECRET },
    });
    const address = { url: s3.url, basePath, signingRegion: 'eu-west-1' };
    const requests = new DirectRequests(client, address, { requestTimeoutMs });
    opened.push(requests);
    return requests;
  }

  const put = (requests: DirectRequests, key: string, content = 'the content') =>
    requests.put(key, Buffer.from(content), { sha256: sha256(content), md5: md5(content) });

  it.each([
    ['', 'pastes/abc'],
    ['/my.bucket', 'pastes/abc'],
    ['', "a b+c/ä€😀/!'()*~/per%20cent/a=b&c?d#e"],
    ['/pasteflow', 'a//b/../c/./'],
  ])('has the signature that S3 computes, below %p for the key %p', async (basePath, key) => {
    const requests = open({ basePath });
    await put(requests, key);
    (await requests.get(key, { range: { start: 1, end: 2 } })).body.destroy();
    expect(s3.received.map(({ method }) => method)).toEqual(['PUT', 'GET']);
    for (const request of s3.received) {
      expect(request.path).toBe(objectPath({ basePath }, key));
      expect(sentSignature(request)).toBe(expectedSignature(request, SECRET));
    }
    expect(s3.received[1]!.headers).toMatchObject({ range: 'bytes=1-2', 'x-amz-content-sha256': EMPTY });
  });

  it('signs the type of the content and both of its digests', async () => {
    await put(open(), 'x');
    const [{ headers, body }] = s3.received as [(typeof s3.received)[number]];
    expect(body.toString()).toBe('the content');
    const fields = {
      'content-length': '11',
      'content-type': 'application/octet-stream',
      'content-md5': md5('the content').toString('base64'),
      'x-amz-content-sha256': sha256('the content').toString('hex'),
    };
    expect(headers).toMatchObject(fields);
    expect(headers.expect).toBeUndefined();
    for (const name of Object.keys(fields)) expect(headers.authorization).toContain(name);
  });

  it('sends and signs the session token of temporary credentials', async () => {
    const credentials = { accessKeyId: 'key', secretAccessKey: SECRET, sessionToken: 'the token' };
    await put(open({ credentials }), 'x');
    expect(s3.received[0]!.headers['x-amz-security-token']).toBe('the token');
    expect(s3.received[0]!.headers.authorization).toContain('x-amz-security-token');
    expect(sentSignature(s3.received[0]!)).toBe(expectedSignature(s3.received[0]!, SECRET));
  });

  it('reads credentials once, and again shortly before they expire', async () => {
    let reads = 0;
    const expiring = (inMs: number) => async () => {
      reads += 1;
      return { accessKeyId: `key${reads}`, secretAccessKey: SECRET, expiration: new Date(Date.now() + inMs) };
    };
    const lasting = open({ credentials: expiring(3_600_000) });
    for (let n = 0; n < 3; n += 1) await put(lasting, 'x');
    expect(reads).toBe(1);
    const short = open({ credentials: expiring(60_000) });
    for (let n = 0; n < 3; n += 1) await put(short, 'x');
    expect(reads).toBeGreaterThan(2);
    expect(s3.received.at(-1)!.headers.authorization).toContain(`Credential=key`);
  });

  it('ends in time while the credentials are not there', async () => {
    const requests = open({ credentials: () => new Promise(() => {}), requestTimeoutMs: 100 });
    const failure = await put(requests, 'x').catch((error: unknown) => error);
    expect(describeS3Error(failure)).toBe('S3 did not answer: ETIMEDOUT');
    const abort = new AbortController();
    const aborted = open({ credentials: () => new Promise(() => {}) }).get('x', { signal: abort.signal });
    abort.abort();
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  });

  it.each([
    [
      { status: 503, body: '<Error><Code>SlowDown</Code><Message>Reduce.</Message></Error>' },
      'S3 answered 503 SlowDown',
    ],
    [{ status: 502, body: '<html>Bad Gateway</html>' }, 'S3 answered 502 UnknownError'],
    [{ status: 301, body: '' }, 'S3 answered 301 UnknownError'],
    [{ status: 403, body: '<Error><Code>Not a code!</Code></Error>' }, 'S3 answered 403'],
  ])('ends with the error of the SDK for the answer %j', async (answer, described) => {
    s3.answers.push(answer);
    const failure = await put(open(), 'x').catch((error: unknown) => error);
    expect(describeS3Error(failure)).toBe(described);
    expect(s3.received).toHaveLength(1);
  });
});
