import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { scrape, type MetricSample } from '@pasteflow/dev-stack/testing';
import { memoryOf, resetPeakMemory, startCluster, type Cluster, type Service } from '../src/index.ts';
import {
  addressOf,
  HALF_GIB,
  largeBodies,
  MAX_RESIDENT_MIB,
  sendByAllCallers,
} from './support/large-bodies.ts';

const MIB = 1024 * 1024;
const SHORT = 256 * 1024;
/** Streamed. */
const LONG = 4 * MIB;
/** More than the kernel keeps of answers that nobody reads: 2.6 to 6 MiB, measured on the loopback interface. */
const ASKED = 16 * MIB;
const READERS = 200;

let cluster: Cluster;
/** The api under test. Another one creates the pastes, which takes memory that a process keeps. */
let api: Service;
/**
 * A paste of each length for each reader, so that no reader is served from the memory that another one holds.
 */
let codes: { readonly long: readonly string[]; readonly short: readonly string[] };
beforeAll(async () => {
  cluster = await startCluster({
    janitors: 0,
    env: { ...HALF_GIB, MIN_DOWNLOAD_BYTES_PER_SECOND: '0', CONTENT_CACHE_BYTES: '0' },
    keepRequests: false,
  });
  codes = {
    long: await createForEachReader(() => randomBytes(LONG)),
    short: await createForEachReader(lines),
  };
  api = await cluster.add('api');
}, 600_000);
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));
afterAll(() => cluster.stop());

/** 256 KiB whose page has about 2 MiB, nearly the most: each line of one byte gets a number. */
function lines(): Buffer {
  const content = Buffer.alloc(SHORT, '\n');
  randomBytes(16).copy(content);
  return content;
}

const CREATED_TOGETHER = 8;

async function createForEachReader(content: () => Buffer): Promise<readonly string[]> {
  const created: string[] = [];
  const client = cluster.client();
  while (created.length < READERS) {
    const pastes = await Promise.all(
      Array.from({ length: CREATED_TOGETHER }, () => client.pastes.create(content(), { wait: true })),
    );
    created.push(...pastes.map(({ short_code }) => short_code));
  }
  return created;
}

interface Reading {
  readonly codes: readonly string[];
  readonly accept: string;
  /**
   * Requests that each reader sends at once. All but the last one are answered into the buffers of the
   * kernel.
   */
  readonly requests: number;
}

/** Sends requests for the content of the paste of this reader, and reads nothing of the answers. */
async function askAndNeverRead({ codes: all, accept, requests }: Reading, reader: number): Promise<void> {
  const socket = connect(Number(new URL(cluster.http(1).url).port), '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  const request = `GET /${all[reader]} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nX-Forwarded-For: ${addressOf(reader)}\r\n\r\n`;
  socket.write(request.repeat(requests));
}

/** Readers whose answers hold a stream or memory of the process, and how many may do so. */
interface Held {
  readonly readers: number;
  readonly limit: number;
}

/** @param bytesOfAnswer what an answer counts for the budget; null: it is streamed */
function heldOf(samples: readonly MetricSample[], bytesOfAnswer: number | null): Held {
  const name = bytesOfAnswer === null ? 'http_download_streams' : 'http_download_bytes';
  const of = (kind: string): number =>
    samples.find((each) => each.name === name && each.labels.kind === kind)!.value / (bytesOfAnswer ?? 1);
  return { readers: of('in_flight'), limit: Math.floor(of('limit')) };
}

const refusedOf = (samples: readonly MetricSample[]): number =>
  samples
    .filter(({ name }) => name === 'http_downloads_refused_total')
    .reduce((total, { value }) => total + value, 0);

/** The content that answers wait for has arrived from S3 when a second adds less than 4 MiB. */
async function untilMemoryIsSteady(): Promise<void> {
  let last = 0;
  await cluster.until(async () => {
    await sleep(1000);
    const { present } = await memoryOf(api.pid);
    const grown = present - last;
    last = present;
    return grown < 4 * MIB;
  });
}

describe.each([
  { before: 'nothing', prepare: async () => {} },
  {
    before: '200 bodies of 10 MiB at once in each form',
    // The process keeps a part of the memory that the bodies took.
    prepare: async () => {
      for (const body of Object.values(largeBodies)) await sendByAllCallers(api, body());
    },
  },
])('an api with the budgets of 512 MiB that has received $before', ({ prepare }) => {
  beforeAll(prepare, 300_000);

  it.each([
    ['content of 4 MiB', () => ({ codes: codes.long, accept: '*/*', requests: ASKED / LONG }), null],
    ['content of 256 KiB', () => ({ codes: codes.short, accept: '*/*', requests: ASKED / SHORT }), SHORT],
    [
      'the page of 256 KiB',
      () => ({ codes: codes.short, accept: 'text/html', requests: ASKED / (2 * MIB) }),
      9 * SHORT,
    ],
  ])(
    'stays below 400 MiB while 200 callers ask for %s of their own and read nothing',
    async (_, reading, bytesOfAnswer) => {
      const held = async (): Promise<Held> => heldOf(await scrape(api), bytesOfAnswer);
      await cluster.until(async () => (await held()).readers === 0);
      const before = refusedOf(await scrape(api));
      await resetPeakMemory(api.pid);
      await Promise.all(
        Array.from({ length: READERS }, (_each, reader) => askAndNeverRead(reading(), reader)),
      );
      // Each reader has an answer that waits for the reader, or was refused one.
      await cluster.until(
        async () => (await held()).readers + refusedOf(await scrape(api)) - before,
        (count) => count >= READERS,
      );
      await untilMemoryIsSteady();
      const { readers, limit } = await held();
      const { peak } = await memoryOf(api.pid);
      process.stdout.write(`${Math.ceil(peak / MIB)} MiB\n`);
      expect(readers).toBeLessThanOrEqual(limit);
      expect(peak / MIB).toBeLessThan(MAX_RESIDENT_MIB);
      expect((await fetch(`${cluster.http(1).url}/healthz`)).status).toBe(200);
    },
    120_000,
  );
});
