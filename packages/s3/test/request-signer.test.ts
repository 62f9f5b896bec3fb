import { createHash } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from '@jest/globals';
import { RequestSigner } from '../src/direct/signed-requests.ts';

const EMPTY = createHash('sha256').update('').digest('hex');

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, but for the example that signs a Date: our
 * requests have only x-amz-date.
 */
describe('the signatures that AWS publishes for S3', () => {
  const client = new S3Client({
    region: 'us-east-1',
    credentials: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
  });
  const signer = new RequestSigner(client.config, 'us-east-1');
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
      name: 'a get of a setting of the bucket',
      request: {
        method: 'GET',
        path: '/',
        query: { lifecycle: '' },
        headers: { 'x-amz-content-sha256': EMPTY },
      },
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    },
    {
      name: 'a list',
      request: {
        method: 'GET',
        path: '/',
        query: { 'max-keys': '2', prefix: 'J' },
        headers: { 'x-amz-content-sha256': EMPTY },
      },
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  ] as const)('are ours: $name', async ({ request, signature }) => {
    const headers = { host: url.host, ...request.headers };
    const signed = await signer.sign({ ...request, url, headers }, now);
    expect(signed.authorization).toMatch(new RegExp(`Signature=${signature}$`));
  });
});
