import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BenchCluster, cpuOf } from './costs.ts';
import { createOf, PASTE_BYTES, randomContent } from './load.ts';
import { measureCreates, measureFirstRead, measureReads, measureSettling, shortCodesOf } from './measure.ts';

/** Prints every figure of docs/performance.md. */
export async function runBench(cluster: BenchCluster, print: (line: string) => void): Promise<void> {
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

  for (const api of cluster.apis) {
    await api.kill();
    await api.start({ env: { CONTENT_CACHE_BYTES: '0' } });
  }
  figure('CPU of a content read from S3', cpuOf(await measureReads(cluster, hot, { count: 3000 })), 'ms');
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
