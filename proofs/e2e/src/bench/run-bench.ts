import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { type BenchCluster, cpuOf, measureCosts } from './costs.ts';
import { createOf, makeLoad, PASTE_BYTES, randomContent } from './load.ts';
import { measureCreates, measureFirstRead, measureReads, measureSettling, shortCodesOf } from './measure.ts';
import { cpuSecondsOf } from '../usage.ts';

/** Prints a figure, or what is measured next. */
type Print = (line: string) => void;

/** Prints every figure of docs/performance.md. */
export async function runBench(cluster: BenchCluster, print: Print): Promise<void> {
  const figure = (name: string, value: number, unit: string): void =>
    print(`${name.padEnd(50)} ${value.toFixed(value < 100 ? 2 : 0).padStart(10)} ${unit}`);
  const warming = await measureCreates(cluster, { count: 6000 });
  const hot = shortCodesOf(warming.load).slice(0, 100);

  const kinds = {
    create: { count: 3000, requestOf: createOf(randomContent) },
    'create of text': { count: 3000, requestOf: createOf(textPieces(PASTE_BYTES)) },
    'keyed create': { count: 1500, requestOf: createOf(randomContent, { withKey: true }) },
  };
  const rates: number[] = [];
  for (const [kind, options] of Object.entries(kinds)) {
    const { costs, load } = await measureCreates(cluster, options);
    rates.push(options.count / load.seconds);
    figure(`CPU of a ${kind} until it is stored`, cpuOf(costs), 'ms');
    for (const part of ['postgres', 'api', 'worker', 'janitor'] as const)
      figure(`CPU of a ${kind}: ${part}`, costs[part], 'ms');
    figure(`WAL of a ${kind}`, costs.walBytes, 'bytes');
    figure(`${kind}: rate`, options.count / load.seconds, '1/s');
    figure(`${kind}, median`, load.p50, 'ms');
    figure(`${kind}, p99`, load.p99, 'ms');
  }
  // With 3,000 requests, which ran for four seconds, one pause of a tenth of a second decided the p99.
  const half = { count: 10_000, perSecond: (rates[0] ?? NaN) / 2, connections: 200 };
  const { load } = await measureCreates(cluster, half);
  figure('create at half load, median', load.p50, 'ms');
  figure('create at half load, p99', load.p99, 'ms');

  figure('CPU of a content read', cpuOf(await measureReads(cluster, hot, { count: 5000 })), 'ms');
  const revalidations = await measureReads(cluster, hot, { count: 5000, revalidate: true });
  figure('CPU of a 304', cpuOf(revalidations), 'ms');
  figure('pastes settled a second by one worker', await measureSettling(cluster, 2000), '1/s');
  figure('from the 201 to the content, median', await measureFirstRead(cluster), 'ms');
  const { post, put, insert } = await measureControls(cluster, 3000);
  figure('CPU of a POST to bare Express', post, 'ms');
  figure('CPU of a put of the bare S3 client', put, 'ms');
  figure('CPU of Postgres for a bare INSERT', insert, 'ms');

  for (const api of cluster.apis) {
    await api.kill();
    await api.start({ env: { CONTENT_CACHE_BYTES: '0' } });
  }
  figure('CPU of a content read from S3', cpuOf(await measureReads(cluster, hot, { count: 3000 })), 'ms');
}

/**
 * So many that two runs on a busy machine differ by less than 10 %. Single rounds deviate by as much from
 * their mean.
 */
const SHORT_ROUNDS = 9;

/** Measures only what the baseline has: rounds of creates, each with its controls. */
export async function runShortBench(cluster: BenchCluster, print: Print): Promise<readonly Round[]> {
  // The first thousands of pastes cost up to a half more, because the processes compile their hot code.
  await measureCreates(cluster, { count: 4000 });
  const rounds: Round[] = [];
  for (let n = 1; n <= SHORT_ROUNDS; n += 1) {
    const { costs } = await measureCreates(cluster, { count: 1000 });
    const { post, put, insert } = await measureControls(cluster, 1000);
    const round = { createMs: cpuOf(costs), controlMs: post + put + insert, walBytes: costs.walBytes };
    rounds.push(round);
    const [create, control] = [round.createMs.toFixed(2), round.controlMs.toFixed(2)];
    print(`round ${n}: create ${create} ms, controls ${control} ms, WAL ${round.walBytes.toFixed(0)} bytes`);
  }
  return rounds;
}

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));

/** What people paste most: code, prose and JSON. About two thirds of these bytes are code. */
const TEXTS = [
  '{packages,clients}/*/src/**/*.ts',
  'services/*/src/**/*.ts',
  'docs/**/*.md',
  '**/package.json',
];

/** A step between two pieces that is not a divisor of the length: the pieces of a load don't repeat. */
const STEP = 7919;

/**
 * Pieces of the sources and documents of this repository, each of so many bytes. The same ones in each run.
 */
function textPieces(bytes: number): (n: number) => Buffer {
  const exclude = (path: string): boolean => path.includes('node_modules') || path.includes('dist');
  const files = globSync(TEXTS, { cwd: REPOSITORY, exclude }).toSorted();
  const all = Buffer.concat(files.map((file) => readFileSync(`${REPOSITORY}/${file}`)));
  return (n) => {
    const start = (n * STEP) % (all.length - bytes);
    return all.subarray(start, start + bytes);
  };
}

/** The CPU time in ms of what a create needs at least, without the services. */
interface Controls {
  /** A POST to bare Express. */
  readonly post: number;
  /** A put of the bare S3 client. */
  readonly put: number;
  /** Of Postgres, for an INSERT of the bytes into a table without indexes. */
  readonly insert: number;
}

async function measureControls(cluster: BenchCluster, count: number): Promise<Controls> {
  return {
    post: await measurePosts(count),
    put: await measurePuts(cluster, count),
    insert: await measureInserts(cluster, count),
  };
}

const entry = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

async function measurePosts(count: number): Promise<number> {
  const server = spawnService({ entry: entry('bare-express-main.ts'), name: 'bare Express' });
  try {
    const [, port] = await server.waitFor(/listening on (\d+)/);
    const post = async (posts: number): Promise<number> => {
      const requestOf = createOf(randomContent);
      await makeLoad(`http://127.0.0.1:${port}`, { count: posts, requestOf, expected: 201 });
      return await cpuSecondsOf([server.pid]);
    };
    const before = await post(1000); // a process compiles its hot code in its first requests
    return (1000 * ((await post(count)) - before)) / count;
  } finally {
    await server.stop();
  }
}

async function measurePuts(cluster: BenchCluster, count: number): Promise<number> {
  const { s3, bucket } = cluster.stack.aws;
  const args = [s3, bucket, String(count)];
  const client = spawnService({ entry: entry('bare-store-main.ts'), args, name: 'bare S3 client' });
  const [, ms] = await client.waitFor(/^([\d.]+) ms$/);
  await client.exited;
  return Number(ms);
}

const CONNECTIONS = 10;

async function measureInserts(cluster: BenchCluster, count: number): Promise<number> {
  const pool = new Pool({ connectionString: cluster.stack.databaseUrl, max: CONNECTIONS });
  const insert = async (): Promise<void> => {
    await pool.query('CREATE TABLE bench_control (id bigserial, content bytea)');
    let left = count;
    const lane = async (): Promise<void> => {
      while (left-- > 0)
        await pool.query('INSERT INTO bench_control (content) VALUES ($1)', [randomContent()]);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
    await pool.query('DROP TABLE bench_control');
    await pool.end();
  };
  const { costs } = await measureCosts(cluster, count, insert);
  return costs.postgres;
}

/** One measurement of creates and of the controls. */
interface Round {
  /** The CPU time of a create until the paste is stored. */
  readonly createMs: number;
  /** The CPU time of what a create needs at least: a request, a put and an insert. */
  readonly controlMs: number;
  /** Of a create. */
  readonly walBytes: number;
}

/** What the short benchmark is compared with. */
interface Baseline {
  /** The CPU time of a create, divided by that of the controls in the same run: a slow machine slows both. */
  readonly cpuRatio: number;
  readonly walBytes: number;
}

const FILE = new URL('../../bench-baseline.json', import.meta.url);
const MAX_GROWTH = 0.15;

/**
 * Of the CPU time, the sum of all rounds divided by that of their controls: a single round deviates by up to
 * 10 % on a busy machine. Of the WAL, the least: a checkpoint makes a round write whole pages.
 */
export function baselineOf(rounds: readonly Round[]): Baseline {
  const sum = (part: 'createMs' | 'controlMs'): number =>
    rounds.reduce((total, round) => total + round[part], 0);
  return {
    cpuRatio: sum('createMs') / sum('controlMs'),
    walBytes: Math.min(...rounds.map(({ walBytes }) => walBytes)),
  };
}

export function writeBaseline(baseline: Baseline): void {
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Compares with the committed baseline. @returns a line for each value, and whether one grew too much */
export function compare(measured: Baseline): { readonly lines: readonly string[]; readonly isGood: boolean } {
  const committed = JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;
  const growth = (part: keyof Baseline): number => measured[part] / committed[part] - 1;
  const percent = (part: keyof Baseline): string =>
    growth(part).toLocaleString('en', { style: 'percent', signDisplay: 'always' });
  const lineOf = (name: string, part: keyof Baseline): string =>
    `${name}: ${measured[part].toFixed(2)}, in the baseline ${committed[part].toFixed(2)}: ${percent(part)}`;
  return {
    lines: [
      lineOf('CPU time of a create, divided by that of the controls', 'cpuRatio'),
      lineOf('bytes of WAL of a create', 'walBytes'),
    ],
    isGood: growth('cpuRatio') <= MAX_GROWTH && growth('walBytes') <= MAX_GROWTH,
  };
}
