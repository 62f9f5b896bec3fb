import { request as httpRequest } from 'node:http';

export interface BufferedRequest {
  method: string;
  path: string;
  rawHeaders: string[];
  body: Buffer;
}

export interface BufferedResponse {
  status: number;
  rawHeaders: string[];
  body: Buffer;
}

/**
 * Forwards the request unchanged, Host and signature included, on a new connection: a keep-alive connection
 * would add resets when the upstream restarts. Rejects when the upstream is unreachable or `signal` is
 * aborted.
 */
export function sendUpstream(
  upstream: URL,
  { method, path, rawHeaders, body }: BufferedRequest,
  signal?: AbortSignal,
): Promise<BufferedResponse> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: upstream.hostname,
        port: upstream.port,
        method,
        path,
        agent: false,
        ...(signal && { signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode as number,
            rawHeaders: withoutConnectionHeaders(response.rawHeaders),
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    request.once('error', reject);
    for (const [name, values] of groupHeaders(withoutConnectionHeaders(rawHeaders)))
      request.setHeader(name, values);
    // The body is complete, so its length is known whatever framing the client used.
    if (body.length > 0) request.setHeader('content-length', body.length);
    request.end(body);
  });
}

const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'expect']);

function withoutConnectionHeaders(rawHeaders: string[]): string[] {
  return rawHeaders.filter((_, index) => {
    const name = rawHeaders[index - (index % 2)] as string;
    return !CONNECTION_HEADERS.has(name.toLowerCase());
  });
}

function groupHeaders(rawHeaders: string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    groups.set(name, [...(groups.get(name) ?? []), rawHeaders[index + 1] as string]);
  }
  return groups;
}
