import { createHash } from 'node:crypto';

/** The fields of one line of a history. */
export interface Facts {
  readonly [field: string]: string | number | boolean | undefined;
}

export interface Operation extends Facts {
  readonly op: string;
}

export interface Outcome extends Facts {
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

/** The operation that a request asks for. @param sent the body */
export function operationOf({ method, url, headers }: Request, sent: Buffer): Operation {
  const { pathname, searchParams: query, port: api } = new URL(url);
  const key = headers.get('Idempotency-Key') ?? undefined;
  const [route = '', name, action] = /^\/v1\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname)?.slice(1) ?? [];
  switch (`${method} ${[route, name && 'NAME', action].filter(Boolean).join('/')}`) {
    case 'POST pastes':
      return {
        op: 'create',
        key,
        slug: query.get('slug') ?? undefined,
        burn: query.get('burn') === 'true' || undefined,
        expires_in: Number(query.get('expires_in')) || undefined,
        hash: sent.length === 0 ? undefined : hashOf(sent),
        api,
      };
    case 'GET pastes/NAME':
      return { op: 'read', form: 'metadata', name, api };
    case 'GET pastes/NAME/content':
      return { op: 'read', form: 'content', name, etag: headers.get('If-None-Match') ?? undefined, api };
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
    default:
      return { op: 'read', form: 'content', name: pathname.slice(1), api };
  }
}

/** What an answer says. After 408, 429 and most of 4xx nothing was changed; after 5xx it is unknown. */
export function outcomeOf(op: string, { status, headers, bytes }: Received): Outcome {
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
    case 'read':
    case 'reveal':
      return { ...answer, hash: hashOfAnswer({ status, headers, bytes }) };
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

function jsonOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
