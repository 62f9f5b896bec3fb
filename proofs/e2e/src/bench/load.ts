import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type Dispatcher } from 'undici';

/** Of a paste that a benchmark creates. */
export const PASTE_BYTES = 2048;
export const randomContent = (): Buffer => randomBytes(PASTE_BYTES);
/** As long, of letters and digits, for what takes no bytes. */
export const randomText = (): string => randomBytes((PASTE_BYTES * 3) / 4).toString('base64url');

/** Makes the n-th request of a load. */
export type RequestOf = (n: number) => Dispatcher.RequestOptions;

export interface LoadOptions {
  readonly count: number;
  readonly requestOf: RequestOf;
  /** The status of each answer. */
  readonly expected: number;
  /** Default: 50. */
  readonly connections?: number;
  /** Starts so many requests a second. Default: a connection starts the next one when its last one has ended. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly seconds: number;
  /** Latencies in ms. */
  readonly p50: number;
  readonly p99: number;
  /** The body of each answer. */
  readonly bodies: readonly string[];
}

export function createOf(contentOf: (n: number) => Buffer, { withKey = false } = {}): RequestOf {
  return (n) => ({
    method: 'POST',
    path: '/v1/pastes',
    headers: {
      'content-type': 'application/octet-stream',
      ...(withKey && { 'idempotency-key': randomUUID() }),
    },
    body: contentOf(n),
  });
}

/** @throws when an answer was not as expected: its cost would be another one */
export async function makeLoad(
  baseUrl: string,
  { count, requestOf, expected, connections = 50, perSecond }: LoadOptions,
): Promise<LoadResult> {
  const pool = new Pool(baseUrl, { connections });
  const latencies: number[] = [];
  const bodies: string[] = [];
  const send = async (n: number): Promise<void> => {
    const options = requestOf(n);
    const sentAt = performance.now();
    const { statusCode, body } = await pool.request(options);
    bodies.push(await body.text());
    latencies.push(performance.now() - sentAt);
    if (statusCode !== expected) throw new Error(`answered ${statusCode}: ${bodies.at(-1)}`);
  };
  const startedAt = performance.now();
  await (perSecond === undefined ? inLanes(connections, count, send) : atRate(perSecond, count, send));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number => latencies[Math.floor(share * count)] ?? NaN;
  return { seconds, p50: percentile(0.5), p99: percentile(0.99), bodies };
}

type Send = (n: number) => Promise<void>;

async function inLanes(lanes: number, count: number, send: Send): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/**
 * Starts a request at its time, whether or not the earlier ones have ended: otherwise a slow answer would
 * delay what is measured next.
 */
async function atRate(perSecond: number, count: number, send: Send): Promise<void> {
  const startedAt = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < count; n += 1) {
    const early = startedAt + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    sent.push(send(n));
  }
  await Promise.all(sent);
}
