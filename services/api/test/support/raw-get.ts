import { randomBytes } from 'node:crypto';
import { request, type IncomingHttpHeaders } from 'node:http';

export interface UndecodedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The transfer ended before its Content-Length. */
  readonly isCut: boolean;
}

/**
 * A request by node:http, which adds no Accept-Encoding and decompresses nothing.
 * @param socketPath the server's Unix socket, when the server has no port
 */
export async function rawGet(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  socketPath?: string,
): Promise<UndecodedAnswer> {
  return await rawRequest(url, { headers, method, socketPath });
}

/** The same with a body. */
export async function rawRequest(
  url: string,
  {
    headers,
    method,
    body,
    socketPath,
  }: {
    readonly headers: Readonly<Record<string, string>>;
    readonly method: string;
    readonly body?: string | undefined;
    readonly socketPath?: string | undefined;
  },
): Promise<UndecodedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<UndecodedAnswer>();
  request(url, { method, headers, ...(socketPath !== undefined && { socketPath }) }, (res) => {
    const chunks: Buffer[] = [];
    res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
    res.once('close', () =>
      resolve({
        status: res.statusCode!,
        headers: res.headers,
        body: Buffer.concat(chunks),
        isCut: !res.complete,
      }),
    );
  })
    .on('error', reject)
    .end(body);
  return await promise;
}

/** Of this length, and compressible to a half. */
export function compressibleContent(bytes: number): Buffer {
  return Buffer.from(
    randomBytes(Math.ceil(bytes / 2))
      .toString('hex')
      .slice(0, bytes),
  );
}
