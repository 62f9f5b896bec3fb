import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { createHash } from 'node:crypto';

/**
 * Writes two lines of JSON for each operation of a campaign: `invoke`, and later `ok`, `fail` or `unknown`.
 * All clients are in this process, so that one monotonic clock dates all lines. The checker in
 * `proofs/checker` reads them.
 */
export class History {
  readonly #descriptor: number;
  #operations = 0;

  constructor(file: string) {
    mkdirSync(dirname(file), { recursive: true });
    this.#descriptor = openSync(file, 'w');
  }

  /** Call the returned function with the outcome. An operation that never has one is `unknown`. */
  begin(operation: Operation): (outcome: Outcome) => void {
    const id = (this.#operations += 1);
    this.#write({ id, event: 'invoke', ...operation });
    return (outcome) => this.#write({ id, ...outcome });
  }

  /** An operation that is no request: `ok` with the facts that `run` returns, `unknown` if it rejects. */
  async record<T extends Facts | void>(operation: Operation, run: () => Promise<T>): Promise<T> {
    const end = this.begin(operation);
    try {
      const facts = await run();
      end({ event: 'ok', ...facts });
      return facts;
    } catch (error) {
      end({ event: 'unknown', error: String(error) });
      throw error;
    }
  }

  /** Sends the request, records it as one operation, and receives the whole answer. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const operation = operationOf(request, await sentIn(request.clone()));
    const end = this.begin(operation);
    try {
      const { status, headers, body } = await fetch(request);
      const bytes = body === null ? Buffer.alloc(0) : Buffer.from(await new Response(body).arrayBuffer());
      end(outcomeOf(operation.op, { status, headers, bytes }));
      return new Response(body === null ? null : bytes, { status, headers });
    } catch (error) {
      end({ event: 'unknown', error: String(error) });
      throw error;
    }
  };

  /** A deposit is its content and its key. */
  hashOfDeposit({ content, wrapped_key: key }: { content: string; wrapped_key: string }): string {
    return hashOf(Buffer.from(content + key));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #write(line: Facts): void {
    writeSync(this.#descriptor, `${JSON.stringify({ ...line, at: Math.round(performance.now() * 1e6) })}\n`);
  }
}

/** The fields of one line of a history. */
interface Facts {
  readonly [field: string]: string | number | boolean | undefined;
}

interface Operation extends Facts {
  readonly op: string;
}

interface Outcome extends Facts {
  /** `fail`: refused, and nothing was changed. `unknown`: it may have been executed, also later. */
  readonly event: 'ok' | 'fail' | 'unknown';
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Short enough for a person to compare, and long enough to be unique in a campaign. */
const HASH_CHARACTERS = 16;

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, HASH_CHARACTERS);
}

interface Sent {
  readonly body: Buffer;
  /** The options of a paste. */
  readonly query: { get(name: string): unknown };
}

/** The files of a form are one content, and its fields are what the query is beside a raw body. */
async function sentIn(request: Request): Promise<Sent> {
  if (!request.headers.get('Content-Type')?.startsWith('multipart/form-data'))
    return { body: Buffer.from(await request.arrayBuffer()), query: new URL(request.url).searchParams };
  const form = await request.formData(); // oxlint-disable-line typescript/no-deprecated -- the client's own forms, which are small
  const files = form.getAll('file').map((file) => new Response(file).arrayBuffer());
  return { body: Buffer.concat((await Promise.all(files)).map((bytes) => Buffer.from(bytes))), query: form };
}

/** The operation that a request asks for. */
function operationOf({ method, url, headers }: Request, { body: sent, query }: Sent): Operation {
  const { pathname, port: api } = new URL(url);
  const key = headers.get('Idempotency-Key') ?? undefined;
  const [route = '', name, action] = /^\/v1\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname)?.slice(1) ?? [];
  switch (`${method} ${[route, name && 'NAME', action].filter(Boolean).join('/')}`) {
    case 'POST pastes':
      return {
        op: 'create',
        key,
        slug: text(query.get('slug')),
        title: text(query.get('title')) ?? '',
        supersedes: text(query.get('supersedes')),
        burn: query.get('burn') === 'true' || undefined,
        expires_in: Number(query.get('expires_in')) || undefined,
        hash: sent.length === 0 ? undefined : hashOf(sent),
        api,
      };
    case 'GET pastes/NAME':
      return { op: 'read', form: 'metadata', name, api };
    case 'GET pastes/NAME/content':
      return { op: 'read', form: 'content', name, etag: headers.get('If-None-Match') ?? undefined, api };
    case 'PATCH pastes/NAME':
      return { op: 'change', name, title: text(jsonOf(sent).title), api };
    case 'DELETE pastes/NAME':
      return { op: 'delete', name, api };
    case 'POST pastes/NAME/reveal':
      return { op: 'reveal', name, reader: key, api };
    case 'PUT slugs/NAME': {
      const { short_code: code, from } = jsonOf(sent);
      return { op: 'move', slug: name, code: text(code), from: text(from), api };
    }
    case 'POST jobs':
      return { op: 'start', key, api };
    case 'GET jobs/NAME':
      return { op: 'look', job: name, api };
    case 'POST jobs/NAME/cancel':
      return { op: 'cancel', job: name, api };
    case 'POST requests': {
      const { deposits: places, expires_in } = jsonOf(sent);
      return { op: 'ask', places: Number(places), expires_in: Number(expires_in) || undefined, api };
    }
    case 'GET requests/NAME':
      return { op: 'left', request: name, api };
    case 'POST requests/NAME/cancel':
      return { op: 'close', request: name, api };
    case 'GET requests/NAME/deposits':
      return { op: 'list', request: name, api };
    case 'POST requests/NAME/deposits': {
      const { content, wrapped_key: wrapped } = jsonOf(sent);
      return {
        op: 'deposit',
        request: name,
        key,
        hash: hashOf(Buffer.from(`${text(content)}${text(wrapped)}`)),
        api,
      };
    }
    default:
      return { op: 'read', form: 'content', name: pathname.slice(1), api };
  }
}

/** What an answer says. After 408, 429 and most of 4xx nothing was changed; after 5xx it is unknown. */
function outcomeOf(op: string, { status, headers, bytes }: Received): Outcome {
  if (status >= 500) return { event: 'unknown', status };
  if (status >= 400) return { event: 'fail', status, error: text(jsonOf(bytes).code) };
  const replayed = headers.has('Idempotency-Replayed') || undefined;
  const answer = { event: 'ok', status, replayed } as const;
  switch (op) {
    case 'create':
      return { ...answer, code: text(jsonOf(bytes).short_code) };
    case 'start':
      return { ...answer, job: text(jsonOf(bytes).job_id) };
    case 'look': {
      const { status: state, error_message: message } = jsonOf(bytes);
      const isCancelled = text(message)?.startsWith('cancelled') === true;
      return { ...answer, state: isCancelled ? 'cancelled' : text(state) };
    }
    case 'ask':
      return { ...answer, request: text(jsonOf(bytes).id) };
    case 'deposit':
      return { ...answer, code: text(jsonOf(bytes).receipt) };
    case 'left':
      return {
        ...answer,
        count: Number(jsonOf(bytes).deposits_left),
        state: text(jsonOf(bytes).status),
      };
    case 'list': {
      const deposits = jsonOf(bytes).deposits as readonly { readonly short_code: string }[];
      return { ...answer, receipts: deposits.map(({ short_code: code }) => code).join(',') };
    }
    case 'read':
    case 'reveal':
      return {
        ...answer,
        hash: hashOfAnswer({ status, headers, bytes }),
        title: titleIn({ headers, bytes }),
      };
    default:
      return answer;
  }
}

/** The hash of the content itself, or the one that the entity tag or the metadata name. */
function hashOfAnswer({ status, headers, bytes }: Received): string | undefined {
  if (status === 304) return /[0-9a-f]{64}/.exec(headers.get('ETag') ?? '')?.[0].slice(0, HASH_CHARACTERS);
  if (!headers.get('Content-Type')?.startsWith('application/json')) return hashOf(bytes);
  return text(jsonOf(bytes).content_hash)?.slice('sha256:'.length).slice(0, HASH_CHARACTERS);
}

/** The title that the metadata have, empty for none; undefined: the answer is the content. */
function titleIn({ headers, bytes }: Pick<Received, 'headers' | 'bytes'>): string | undefined {
  if (!headers.get('Content-Type')?.startsWith('application/json')) return undefined;
  return text(jsonOf(bytes).title ?? '');
}

function jsonOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
