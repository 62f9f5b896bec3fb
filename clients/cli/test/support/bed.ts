import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { ExitCode } from '../../src/errors.ts';
import { run } from '../../src/program.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Handler = (request: SeenRequest, res: ServerResponse) => void | Promise<void>;

interface RunOptions {
  /** As a list, on a terminal: what a person types, or does, each time the program asks. */
  readonly stdin?: string | Buffer | readonly (string | (() => void))[];
  readonly env?: Readonly<Record<string, string>>;
  /** Which streams are a terminal. */
  readonly tty?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly signal?: AbortSignal;
}

interface Ended {
  readonly code: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** A server in place of the api, an empty home folder for each test, and the program in this process. */
export interface Bed {
  readonly url: string;
  readonly home: string;
  readonly requests: SeenRequest[];
  /** One handler for each request; the last one stays. */
  script(...handlers: Handler[]): void;
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
}

export function useBed(): Bed {
  const bed = { requests: [] } as unknown as { -readonly [Key in keyof Bed]: Bed[Key] };
  let handlers: Handler[] = [];
  const server = createServer((req, res) => {
    void buffer(req)
      .catch(() => Buffer.alloc(0))
      .then(async (body) => {
        const { method = '', url: path = '', headers } = req;
        const request = { method, path, headers, body };
        bed.requests.push(request);
        await (handlers.length > 1 ? handlers.shift() : handlers[0])?.(request, res);
      });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    bed.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(async () => {
    bed.home = await mkdtemp(join(tmpdir(), 'cli-'));
    bed.requests.length = 0;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await rm(bed.home, { recursive: true });
  });
  afterAll(() => void server.close());
  bed.script = (...next) => {
    handlers = next;
  };
  bed.run = async (args, { stdin = '', env = {}, tty = [], signal = new AbortController().signal } = {}) => {
    const [stdout, stderr] = (['stdout', 'stderr'] as const).map((name) =>
      Object.assign(new PassThrough(), { isTTY: tty.includes(name) }),
    );
    const printed = [stdout!, stderr!].map((stream) => buffer(stream));
    const terminal = {
      stdin:
        typeof stdin === 'string' || Buffer.isBuffer(stdin)
          ? Object.assign(
              tty.includes('stdin') ? typing([String(stdin)]) : Readable.from([Buffer.from(stdin)]),
              {
                isTTY: tty.includes('stdin'),
              },
            )
          : Object.assign(typing(stdin), { isTTY: true }),
      stdout: stdout!,
      stderr: stderr!,
      env: { HOME: bed.home, PASTEFLOW_SERVER: bed.url, ...env },
    };
    const code = await run(args, terminal, signal);
    stdout!.end();
    stderr!.end();
    const [out, err] = await Promise.all(printed);
    return { code, stdout: out!.toString(), stderr: err!.toString() };
  };
  return bed;
}

export function json(status: number, body: object, headers: Record<string, string> = {}): Handler {
  return (_request, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function problem(
  status: number,
  code: string,
  detail: string,
  headers: Record<string, string> = {},
): Handler {
  const body = { type: 'about:blank', title: code, status, detail, instance: '/', code };
  return json(status, body, { 'content-type': 'application/problem+json', ...headers });
}

/** Resets the connection instead of answering. */
export const reset: Handler = (_request, res) => {
  res.socket?.resetAndDestroy();
};

/** The paste that a creation answers with. */
export function pasteWith(fields: object = {}): Record<string, unknown> {
  return {
    short_code: 'q7Zk2Lm9Xa',
    url: 'https://paste.example.org/q7Zk2Lm9Xa',
    status: 'IN_PROGRESS',
    title: null,
    syntax: null,
    visibility: 'unlisted',
    size_bytes: 5,
    content_hash: 'sha256:00',
    created_at: '2026-11-22T12:00:00.000Z',
    expires_at: null,
    ...fields,
  };
}

/** A person who acts each time the program reads, and then waits. */
function typing(acts: readonly (string | (() => void))[]): PassThrough {
  const stream = new PassThrough();
  const left = [...acts];
  stream.on('resume', () => {
    const act = left.shift() ?? '';
    if (typeof act === 'string') stream.write(act);
    else act();
  });
  return stream;
}
