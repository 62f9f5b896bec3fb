import { expect } from '@jest/globals';
import type { Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import type { ApiBed } from './api.ts';
import { countPastes } from './pastes.ts';

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

/**
 * Sends so many requests with one key at once to two copies of the api, and repeats those that are answered
 * 409. They create one paste, and each gets its answer.
 */
export async function raceOneKey(bed: ApiBed, requests: number): Promise<void> {
  const other = await bed.start();
  const key = newKey();
  const before = await counts(bed.db);
  const post = (n: number) => postKeyed((n % 2 === 0 ? bed.api : other).url, { key });
  const all = Array.from({ length: requests }, (_, n) => n);
  const first = await Promise.all(all.map((n) => post(n)));
  const running = first.filter(({ status }) => status === 409);
  for (const { headers } of running) expect(headers.get('retry-after')).toMatch(/^[1-8]$/);
  expect(first.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
  const again = await Promise.all(
    first.map(async (response, n) => (response.status === 409 ? await post(n) : response)),
  );
  const answers = await Promise.all(again.map(wholeAnswer));
  expect(answers.map(({ status }) => status)).toEqual(all.map(() => 201));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  const distinct = new Set(answers.map(({ headers, body }) => JSON.stringify([headers, body.toString()])));
  expect(distinct.size).toBe(1);
  expect(await counts(bed.db)).toEqual(before.map((count) => count + 1));
}

/** Of the pastes and of the executions. */
async function counts(db: Database): Promise<number[]> {
  const executions = await db.selectFrom('task_executions').select('id').execute();
  return [await countPastes(db), executions.length];
}
