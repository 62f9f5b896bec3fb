import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool, type Dispatcher } from 'undici';
import type { LoadJob, LoadResult } from './load-job.ts';
import { textPieces } from './texts.ts';

/**
 * Makes a load in a process of its own, whose CPU time then counts for no service. The last line on stdout is
 * the result in JSON.
 */
const job = JSON.parse(process.argv[2] ?? '') as LoadJob;
const pool = new Pool(job.baseUrl, { connections: job.connections });
const latencies: number[] = [];
const shortCodes: string[] = [];
const total = job.warming + job.count;
const unexpected: Record<string, number> = {};
const EXPECTED = {
  create: 201,
  'create of text': 201,
  'keyed create': 201,
  'multipart create': 200,
  read: 200,
  revalidate: 304,
}[job.kind];
const contentOf = job.kind === 'create of text' ? textPieces(job.bytes) : () => randomBytes(job.bytes);
const BOUNDARY = randomUUID();
const FILE_BEGINS = Buffer.from(
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="paste"\r\n\r\n`,
);
const FILE_ENDS = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
const etags = new Map<string, string>();

function requestOf(n: number): Dispatcher.RequestOptions {
  const path = job.paths[n % job.paths.length] ?? '/';
  switch (job.kind) {
    case 'create':
    case 'create of text':
    case 'keyed create':
      return {
        method: 'POST',
        path: '/v1/pastes',
        headers: {
          'content-type': 'application/octet-stream',
          ...(job.kind === 'keyed create' && { 'idempotency-key': randomUUID() }),
        },
        body: contentOf(n),
      };
    case 'multipart create': // as rustypaste wants it
      return {
        method: 'POST',
        path: '/',
        headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        body: Buffer.concat([FILE_BEGINS, contentOf(n), FILE_ENDS]),
      };
    case 'read':
      return { method: 'GET', path };
    case 'revalidate':
      return { method: 'GET', path, headers: { 'if-none-match': etags.get(path) ?? '' } };
    default:
      return job.kind satisfies never;
  }
}

async function send(n: number): Promise<void> {
  const options = requestOf(n);
  const startedAt = performance.now();
  const { statusCode, body } = await pool.request(options);
  const text = await body.text();
  if (n >= job.warming) latencies.push(performance.now() - startedAt);
  if (statusCode !== EXPECTED) unexpected[statusCode] = (unexpected[statusCode] ?? 0) + 1;
  else if (statusCode === 201 && text.startsWith('{'))
    shortCodes.push((JSON.parse(text) as { short_code: string }).short_code);
  else if (job.kind === 'multipart create') shortCodes.push(new URL(text.trim()).pathname.slice(1));
}

async function oneAfterAnother(): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < total) await send(next++);
  };
  await Promise.all(Array.from({ length: job.connections }, lane));
}

/**
 * Starts a request at its time, whether or not the earlier ones have ended: otherwise a slow answer would
 * delay what is measured next.
 */
async function atRate(perSecond: number): Promise<void> {
  const startedAt = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < total; n += 1) {
    const early = startedAt + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    sent.push(send(n));
  }
  await Promise.all(sent);
}

if (job.kind === 'revalidate') {
  for (const path of new Set(job.paths)) {
    const { headers, body } = await pool.request({ method: 'GET', path });
    await body.dump();
    etags.set(path, String(headers.etag));
  }
}
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await (job.perSecond === null ? oneAfterAnother() : atRate(job.perSecond));
const seconds = (performance.now() - startedAt) / 1000;
const cpu = process.cpuUsage(cpuBefore);
await pool.close();
const sorted = latencies.toSorted((a, b) => a - b);
const percentile = (share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
const result: LoadResult = {
  seconds,
  p50: percentile(0.5),
  p99: percentile(0.99),
  cpuSeconds: (cpu.user + cpu.system) / 1e6,
  shortCodes,
  unexpected,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
