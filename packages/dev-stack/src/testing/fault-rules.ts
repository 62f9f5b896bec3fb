import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';

/** Every given part must match. A `target` string is the name of the action, e.g. `ReceiveMessage`. */
export interface RequestMatch {
  method?: string;
  path?: RegExp;
  target?: string | RegExp;
  headers?: (headers: IncomingHttpHeaders) => boolean;
}

export type Fault =
  | { kind: 'pass' }
  /** Answers with an AWS error. The upstream does not see the request. */
  | { kind: 'fail'; status: number }
  /** Answers with this. The upstream does not see the request. */
  | { kind: 'answer'; status: number; body?: string }
  /** Forwards the request, and changes its answer. */
  | { kind: 'change'; change: (answer: BufferedResponse) => BufferedResponse }
  /** Forwards the request after a delay, if the client is still connected. */
  | { kind: 'delay'; ms: number }
  /** Never answers. The upstream does not see the request. */
  | { kind: 'hang' }
  /** Resets the connection. The upstream does not see the request. */
  | { kind: 'drop' }
  /**
   * Forwards the request, and resets the connection instead of answering: the work is done and its response
   * is lost.
   */
  | { kind: 'lose' }
  | { kind: 'hold'; held: (request: HeldRequest) => void };

export interface FaultRule {
  match: RequestMatch;
  fault: Fault;
  /** The number of further requests that the rule applies to. */
  remaining: number;
}

export function matches(match: RequestMatch, request: RecordedRequest): boolean {
  const { method, path, target, headers } = match;
  if (method !== undefined && method !== request.method) return false;
  if (path !== undefined && !path.test(request.path)) return false;
  if (headers !== undefined && !headers(request.headers)) return false;
  if (target === undefined) return true;
  const action = request.target ?? '';
  return typeof target === 'string' ? action.split('.').at(-1) === target : target.test(action);
}

/** Uses the newest matching rule, so that a test can add an exception to earlier rules. */
export function applyRule(rules: FaultRule[], request: RecordedRequest): Fault {
  const rule = rules.findLast(({ match, remaining }) => remaining > 0 && matches(match, request));
  if (rule === undefined) return { kind: 'pass' };
  rule.remaining -= 1;
  return rule.fault;
}

/**
 * Gives a header of the answer another value; null: takes it out, so that a body without Content-Length comes
 * in chunks.
 */
export function withHeader(name: string, value: string | null): Extract<Fault, { kind: 'change' }> {
  const isOther = (_: string, index: number, all: readonly string[]): boolean =>
    all[index - (index % 2)]?.toLowerCase() !== name.toLowerCase();
  return {
    kind: 'change',
    change: ({ rawHeaders, ...answer }) => ({
      ...answer,
      rawHeaders: [...rawHeaders.filter(isOther), ...(value === null ? [] : [name, value])],
    }),
  };
}

/** A response that the upstream has sent and the client has not received. */
interface HeldResponse {
  readonly status: number;
  release(): void;
  /** Resets the client's connection: the work is done and its response is lost. */
  drop(): void;
}

/** The actions of the proxy for a request. */
export interface Exchange {
  forward(): Promise<BufferedResponse>;
  answer(response: BufferedResponse): void;
  fail(status: number): void;
  drop(): void;
}

/**
 * A request that has arrived completely and waits for the test. It may be forwarded after its client has
 * died.
 */
export class HeldRequest {
  readonly request: RecordedRequest;
  readonly #exchange: Exchange;

  constructor(request: RecordedRequest, exchange: Exchange) {
    this.request = request;
    this.#exchange = exchange;
  }

  /** Forwards the request and answers the client, if it is still connected. Resolves to the status. */
  async forward(): Promise<number> {
    const response = await this.forwardAndHoldResponse();
    response.release();
    return response.status;
  }

  /** Forwards the request. When this resolves, the upstream has acted and the client still waits. */
  async forwardAndHoldResponse(): Promise<HeldResponse> {
    const response = await this.#exchange.forward();
    return {
      status: response.status,
      release: () => this.#exchange.answer(response),
      drop: () => this.#exchange.drop(),
    };
  }

  fail(status: number): void {
    this.#exchange.fail(status);
  }

  /** Resets the client's connection. The upstream never sees the request. */
  drop(): void {
    this.#exchange.drop();
  }
}

/** The proxy's record of one request, updated as the request proceeds. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The `x-amz-target` header, for SQS: `AmazonSQS.SendMessageBatch`. */
  readonly target: string | undefined;
  /** performance.now() when the headers had arrived. */
  readonly at: number;
  bodyBytes: number;
  /**
   * Kept up to 1 MiB, the maximum of an SQS request. Undefined above that, and until the body has arrived.
   */
  body: Buffer | undefined;
  /** Undefined until the response, and if there is none. */
  status: number | undefined;
  /** The client disconnected before it had the response. */
  aborted: boolean;
}

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
