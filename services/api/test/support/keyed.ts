import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '@pasteflow/postgres';

/** A new key. */
export function newKey(): string {
  return randomUUID();
}

export interface KeyedPost {
  readonly key: string;
  readonly path?: string;
  readonly type?: string;
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

/** POST with an Idempotency-Key. */
export function postKeyed(
  url: string,
  { key, path = '/v1/pastes', type = 'application/octet-stream', body = 'content', headers = {} }: KeyedPost,
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { ...(type !== '' && { 'content-type': type }), 'idempotency-key': key, ...headers },
    body,
  });
}

export interface WholeAnswer {
  readonly status: number;
  /** The headers of this answer, without those that differ for every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly replayed: boolean;
}

const ofEachAnswer = new Set([
  'date',
  'x-request-id',
  'ratelimit',
  'ratelimit-policy',
  'idempotency-replayed',
]);

export async function wholeAnswer(response: Response): Promise<WholeAnswer> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = [...response.headers].filter(([name]) => !ofEachAnswer.has(name));
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body,
    replayed: response.headers.get('idempotency-replayed') === 'true',
  };
}

export function keyRows(db: Database) {
  return db.selectFrom('idempotency_keys').selectAll().execute();
}

/** Gives all claims this many seconds until they expire. */
export async function leaveClaims(db: Database, seconds: number): Promise<void> {
  await sql`UPDATE idempotency_keys SET claimed_until = now() + make_interval(secs => ${seconds})
    WHERE answer IS NULL`.execute(db);
}

/** Expires all claims, as 15 s would. */
export async function lapseClaims(db: Database): Promise<void> {
  await sql`UPDATE idempotency_keys SET claimed_until = now() WHERE answer IS NULL`.execute(db);
}
