import type { Round } from './baseline.ts';
import { measureControls } from './controls.ts';
import { cpuOf, type BenchCluster } from './costs.ts';
import { createOf, PASTE_BYTES, randomContent } from './load.ts';
import { measureCreates, measureFirstRead, measureReads, measureSettling, shortCodesOf } from './measure.ts';
import { textPieces } from './texts.ts';

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
