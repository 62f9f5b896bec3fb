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

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server that records requests, and answers each with the next of `answers`, or with an empty 200. */
export async function startRecordingServer() {
  const received: ReceivedRequest[] = [];
  const answers: Answer[] = [];
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
