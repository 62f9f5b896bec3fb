import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  applyRule,
  type BufferedRequest,
  type BufferedResponse,
  type Exchange,
  type Fault,
  type FaultRule,
  HeldRequest,
  matches,
  type RecordedRequest,
  type RequestMatch,
  sendUpstream,
} from './fault-rules.ts';
import { RestartableServer } from './tcp-proxy.ts';

const KEPT_BODY_BYTES = 1_048_576;

/** A proxy on 127.0.0.1 in front of S3 and SQS that records every request and applies the test's rules. */
export class FaultProxy {
  /** Every request so far, oldest first. */
  readonly requests: RecordedRequest[] = [];
  readonly #upstream: URL;
  readonly #server: RestartableServer;
  #rules: FaultRule[] = [];

  readonly #keepRequests: boolean;

  private constructor(upstream: string, keepRequests: boolean) {
    this.#upstream = new URL(upstream);
    this.#keepRequests = keepRequests;
    const server = createServer((request, response) => void this.#handle(request, response));
    // Node would close a connection that is idle for 5 s, which on a busy machine happens while its client
    // sends the next request.
    server.keepAliveTimeout = 0;
    server.requestTimeout = 0; // A test may hold an upload for any time.
    this.#server = new RestartableServer(server);
  }

  /** `keepRequests: false` records no requests, for runs that send too many of them to keep. */
  static async start(upstream: string, { keepRequests = true } = {}): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstream, keepRequests);
    await proxy.up();
    return proxy;
  }

  get port(): number {
    return this.#server.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * Adds a rule that precedes the others, for `times` requests (default: all). Returns a function that
   * removes the rule.
   */
  rule(match: RequestMatch, fault: Exclude<Fault, { kind: 'hold' }>, times = Infinity): () => void {
    return this.#addRule({ match, fault, remaining: times });
  }

  /** Holds the next matching request. Resolves when the whole request has arrived. */
  hold(match: RequestMatch): Promise<HeldRequest> {
    return new Promise((resolve) => {
      this.#addRule({ match, fault: { kind: 'hold', held: resolve }, remaining: 1 });
    });
  }

  /** Removes every rule. Held requests stay held. */
  clear(): void {
    this.#rules = [];
  }

  matching(match: RequestMatch): RecordedRequest[] {
    return this.requests.filter((request) => matches(match, request));
  }

  /** Resets every connection and refuses new ones. */
  down(): Promise<void> {
    return this.#server.down();
  }

  /** Listens again, on the same port. */
  up(): Promise<void> {
    return this.#server.up();
  }

  stop(): Promise<void> {
    return this.#server.down();
  }

  #addRule(rule: FaultRule): () => void {
    this.#rules.push(rule);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== rule);
    };
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const record: RecordedRequest = {
      method: incoming.method as string,
      path: incoming.url as string,
      headers: incoming.headers,
      target: incoming.headers['x-amz-target'] as string | undefined,
      at: performance.now(),
      bodyBytes: 0,
      body: undefined,
      status: undefined,
      aborted: false,
    };
    if (this.#keepRequests) this.requests.push(record);
    const clientGone = new AbortController();
    outgoing.once('close', () => {
      record.aborted = !outgoing.writableFinished;
      clientGone.abort();
    });
    try {
      const body = await readBody(incoming, record);
      const { method, path } = record;
      await this.#act(
        record,
        { method, path, rawHeaders: incoming.rawHeaders, body },
        outgoing,
        clientGone.signal,
      );
    } catch {
      // Client or upstream disconnected. Without the proxy the client would see a reset, too.
      outgoing.socket?.resetAndDestroy();
    }
  }

  async #act(
    record: RecordedRequest,
    request: BufferedRequest,
    outgoing: ServerResponse,
    clientGone: AbortSignal,
  ): Promise<void> {
    const exchange: Exchange = {
      forward: () => sendUpstream(this.#upstream, request),
      answer: (response) => answer(outgoing, record, response),
      fail: (status) => answer(outgoing, record, awsError(status, record.target)),
      drop: () => outgoing.socket?.resetAndDestroy(),
    };
    const fault = applyRule(this.#rules, record);
    switch (fault.kind) {
      case 'delay':
        await sleep(fault.ms, undefined, { signal: clientGone });
        return exchange.answer(await sendUpstream(this.#upstream, request, clientGone));
      case 'pass':
        return exchange.answer(await sendUpstream(this.#upstream, request, clientGone));
      case 'fail':
        return exchange.fail(fault.status);
      case 'answer':
        return exchange.answer({
          status: fault.status,
          rawHeaders: [],
          body: Buffer.from(fault.body ?? ''),
        });
      case 'change':
        return exchange.answer(fault.change(await sendUpstream(this.#upstream, request, clientGone)));
      case 'drop':
        return exchange.drop();
      case 'lose':
        await sendUpstream(this.#upstream, request);
        return exchange.drop();
      case 'hold':
        return fault.held(new HeldRequest(record, exchange));
      case 'hang':
        return;
      default:
        return fault satisfies never;
    }
  }
}

async function readBody(incoming: IncomingMessage, record: RecordedRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    record.bodyBytes += chunk.length;
  }
  const body = Buffer.concat(chunks);
  if (body.length <= KEPT_BODY_BYTES) record.body = body;
  return body;
}

function answer(outgoing: ServerResponse, record: RecordedRequest, response: BufferedResponse): void {
  if (outgoing.destroyed) return;
  record.status = response.status;
  outgoing.writeHead(response.status, response.rawHeaders);
  outgoing.end(response.body);
}

const CODES: Record<number, string> = {
  400: 'InvalidRequest',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  500: 'InternalError',
  503: 'SlowDown',
  507: 'InsufficientStorage',
};

/** An error response in the format of S3 (XML) or, for a request with a target, of SQS (JSON). */
function awsError(status: number, target: string | undefined): BufferedResponse {
  const code = CODES[status] ?? 'InternalError';
  const message = 'Injected by the fault proxy';
  return target === undefined
    ? {
        status,
        rawHeaders: ['content-type', 'application/xml'],
        body: Buffer.from(
          `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
        ),
      }
    : {
        status,
        rawHeaders: ['content-type', 'application/x-amz-json-1.0'],
        body: Buffer.from(JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message })),
      };
}
