import { createHash, createHmac } from 'node:crypto';
import type { ReceivedRequest } from './recording-server.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * The signature that AWS computes for a request, from what has arrived, and as the documentation of AWS describes it:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function expectedSignature(
  { method, path, headers }: ReceivedRequest,
  secretAccessKey: string,
): string {
  const [, date = '', region = '', service = '', names = ''] =
    /Credential=[^/]+\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+)/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, '', signed.join(''), names, String(headers['x-amz-content-sha256'])].join(
    '\n',
  );
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, sha256(canonical)].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

export function sentSignature({ headers }: ReceivedRequest): string | undefined {
  return /Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '')?.[1];
}
