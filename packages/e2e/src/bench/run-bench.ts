import { startCluster } from '../cluster.ts';
import { StackProcess } from '../stacks.ts';
import { valueOf, type Figure } from './figure.ts';
import { measureControls } from './measure-controls.ts';
import { createAndSettle, measureCreates, measureHalfLoad } from './measure-creates.ts';
import { measureFirstRead } from './measure-first-read.ts';
import { measurePeers } from './measure-peers.ts';
import { measureRustypaste } from './measure-rustypaste.ts';
import { measureReads, measureUncachedReads } from './measure-reads.ts';
import { measureRequests } from './measure-requests.ts';
import { measureSettling } from './measure-settling.ts';
import { measureTransitions } from './measure-transitions.ts';
import type { BenchCluster } from './processes.ts';

/**
 * A process compiles its hot code in its first requests: the first thousands of pastes cost up to a half
 * more.
 */
const WARMING_PASTES = 6000;
const HOT_PASTES = 100;

/** With 3,000 requests, which ran for four seconds, one pause of a tenth of a second decided the p99. */
const HALF_LOAD_PASTES = 10_000;

/**
 * One api, one worker and one janitor, which reach the stack past the proxies: only `measureRequests` counts.
 */
export async function startBenchCluster(env: NodeJS.Dict<string>): Promise<BenchCluster> {
  const stack = await StackProcess.start();
  return await startCluster({
    stack,
    env: {
      DATABASE_URL: stack.databaseUrl,
      AWS_ENDPOINT_URL_S3: stack.aws.s3,
      AWS_ENDPOINT_URL_SQS: stack.aws.sqs,
      LOG_LEVEL: 'info',
      // Counted as always, and never reached.
      RATE_LIMIT_CREATIONS_PER_MINUTE: '1000000000',
      RATE_LIMIT_REQUESTS_PER_MINUTE: '1000000000',
      RATE_LIMIT_BYTES_PER_HOUR: '1000000000000000',
      RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR: '1000000000000000',
      ...(env as Record<string, string>),
    },
  });
}

/**
 * Every figure of docs/performance.md, in one run.
 * @param peers a folder in which other paste services and job queues are installed
 */
export async function runBench(
  cluster: BenchCluster,
  report: (line: string) => void,
  peers?: string,
): Promise<Figure[]> {
  report('warming up');
  const { shortCodes } = await createAndSettle(cluster, WARMING_PASTES);
  report('creates');
  const creates = await measureCreates(cluster, 3000);
  const ofText = await measureCreates(cluster, 3000, 'create of text');
  const keyed = await measureCreates(cluster, 1500, 'keyed create');
  report('creates at half load');
  const perSecond = valueOf(creates, 'creates a second');
  const halfLoad = await measureHalfLoad(cluster, { perSecond, count: HALF_LOAD_PASTES });
  report('reads');
  const reads = await measureReads(cluster, shortCodes.slice(0, HOT_PASTES), 5000);
  const uncached = await measureUncachedReads(cluster, shortCodes.slice(0, HOT_PASTES), 3000);
  report('settling');
  const settling = await measureSettling(cluster, 2000);
  const firstRead = await measureFirstRead(cluster);
  report('controls');
  const controls = await measureControls(cluster, 3000);
  report('peers');
  const others =
    peers === undefined
      ? []
      : [...(await measureRustypaste(peers, 3000)), ...(await measurePeers(cluster, peers, 2000))];
  report('transitions');
  const transitions = await measureTransitions(cluster, 5000);
  report('requests');
  const requests = await measureRequests(cluster, 1000);
  return [
    ...creates,
    ...ofText,
    ...keyed,
    ...requests,
    ...halfLoad,
    ...reads,
    ...uncached,
    ...settling,
    ...firstRead,
    ...transitions,
    ...others,
    ...controls,
  ];
}

/**
 * So many that two runs on a busy machine differ by less than 10 %. Single rounds deviate by as much from
 * their mean.
 */
const SHORT_ROUNDS = 9;

/**
 * The first thousands of pastes cost up to a half more, and would be the share of the figures that varies.
 */
const SHORT_WARMING_PASTES = 4000;

/** Only what the baseline has: rounds of creates, each with its controls. */
export async function runShortBench(
  cluster: BenchCluster,
  report: (line: string) => void,
): Promise<Figure[][]> {
  report('warming up');
  await createAndSettle(cluster, SHORT_WARMING_PASTES);
  const runs: Figure[][] = [];
  for (let round = 1; round <= SHORT_ROUNDS; round += 1) {
    report(`round ${round} of ${SHORT_ROUNDS}`);
    const creates = await measureCreates(cluster, 1000);
    runs.push([...creates, ...(await measureControls(cluster, 1000, { onlyCreates: true }))]);
  }
  return runs;
}
