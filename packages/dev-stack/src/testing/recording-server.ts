import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface CannedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server that records requests, and answers each with the next of `answers`, or with an empty 200. */
export async function startRecordingServer() {
  const received: ReceivedRequest[] = [];
  const answers: CannedAnswer[] = [];
  const server = createServer((req, res) => {
    void buffer(req).then((body) => {
      received.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, body });
      const { status, headers, body: text } = answers.shift() ?? { status: 200 };
      res.writeHead(status, headers).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    received,
    answers,
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * The signature that AWS computes for a request, from what has arrived, and as the documentation of AWS
 * describes it: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
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
