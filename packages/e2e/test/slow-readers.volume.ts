import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  memoryOf,
  resetPeakMemory,
  scrape,
  startCluster,
  type Cluster,
  type MetricSample,
} from '../src/index.ts';

const MIB = 1024 * 1024;
const SHORT = 256 * 1024;
/** What an api process with a limit of 512 MiB may use. */
const MAX_RESIDENT_MIB = 400;
const READERS = 200;

let cluster: Cluster;
/** Of 10 MiB, which is streamed, and of 256 KiB, which is read whole. */
let codes: { readonly long: string; readonly short: string };
beforeAll(async () => {
  cluster = await startCluster({
    janitors: 0,
    // The budgets of a process with 512 MiB. Each reader has an address of its own: the limits of a caller do not help.
    env: {
      TRUST_PROXY: '1',
      MAX_BODY_BYTES_IN_FLIGHT: String(64 * MIB),
      MAX_DOWNLOAD_BYTES_IN_FLIGHT: String(32 * MIB),
      MIN_DOWNLOAD_BYTES_PER_SECOND: '0',
    },
    keepRequests: false,
  });
  const [long, short] = await Promise.all(
    [10 * MIB, SHORT].map((bytes) => cluster.client().pastes.create(randomBytes(bytes), { wait: true })),
  );
  codes = { long: long!.short_code, short: short!.short_code };
});
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => cluster.stop());

/** Sends a request for a content, and reads nothing of the answer. */
async function askAndNeverRead(code: string, reader: number, accept: string): Promise<void> {
  const socket = connect(Number(new URL(cluster.http().url).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  const address = `192.0.${Math.floor(reader / 200)}.${reader % 200}`;
  socket.write(
    `GET /${code} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nX-Forwarded-For: ${address}\r\n\r\n`,
  );
}

const sumOf = (samples: readonly MetricSample[], name: string, kind?: string) =>
  samples
    .filter((each) => each.name === name && (kind === undefined || each.labels.kind === kind))
    .reduce((total, { value }) => total + value, 0);

/** How many requests hold a stream, or this many bytes of memory, now. */
async function countHeld(bytes: number): Promise<number> {
  const samples = await scrape(cluster.apis[0]!);
  return (
    sumOf(samples, 'http_download_streams', 'in_flight') +
    sumOf(samples, 'http_download_bytes', 'in_flight') / bytes
  );
}

/** With those that were answered or refused. */
async function countReached(bytes: number): Promise<number> {
  const samples = await scrape(cluster.apis[0]!);
  return sumOf(samples, 'http_request_duration_seconds_count') + (await countHeld(bytes));
}

describe('an api with the budgets of 512 MiB', () => {
  it.each([
    ['a content of 10 MiB', () => codes.long, '*/*', 10 * MIB],
    ['a content of 256 KiB', () => codes.short, '*/*', SHORT],
    ['the page of 256 KiB', () => codes.short, 'text/html', 9 * SHORT],
  ])(
    'stays below 400 MiB while 200 callers ask for %s and read nothing',
    async (_, code, accept, bytes) => {
      const { pid } = cluster.apis[0]!;
      await cluster.until(async () => (await countHeld(bytes)) === 0);
      const before = await countReached(bytes);
      await resetPeakMemory(pid);
      await Promise.all(Array.from({ length: READERS }, (_each, n) => askAndNeverRead(code(), n, accept)));
      await cluster.until(
        () => countReached(bytes),
        (count) => count >= before + READERS,
      );
      const { peak } = await memoryOf(pid);
      expect(peak / MIB).toBeLessThan(MAX_RESIDENT_MIB);
      expect((await fetch(`${cluster.http().url}/healthz`)).status).toBe(200);
    },
    120_000,
  );
});
