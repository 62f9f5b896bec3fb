import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startBenchCluster, type BenchCluster } from './bench/costs.ts';
import { compareHeldSnapshots } from './bench/held-snapshots.ts';
import { PeerBench } from './bench/peers/run-peers.ts';
import { runBench } from './bench/run-bench.ts';
import { compare, readBaseline, runShortBench, writeBaseline } from './bench/short-bench.ts';

const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    'write-baseline': { type: 'boolean', default: false },
    /** Their names may follow: `--peers River,wastebin`. */
    peers: { type: 'boolean', default: false },
    /** For so many minutes. */
    'held-snapshots': { type: 'string' },
    /** The folder of another version, whose services are measured. */
    checkout: { type: 'string' },
  },
  allowPositionals: process.argv.includes('--peers'),
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function measure(cluster: BenchCluster): Promise<void> {
  const heldMinutes = values['held-snapshots'];
  if (heldMinutes !== undefined) {
    const isGood = await compareHeldSnapshots(cluster, Number(heldMinutes), print);
    process.exitCode = isGood ? 0 : 1;
  } else if (values.short || values['write-baseline']) {
    const measured = await runShortBench(cluster, print);
    const { lines, isGood } = compare(measured, readBaseline());
    for (const line of lines) print(line);
    if (values['write-baseline']) writeBaseline(measured.medians);
    else process.exitCode = isGood ? 0 : 1;
  } else {
    await runBench(cluster, print);
  }
}

const interrupted = Promise.race([
  once(process, 'SIGINT').then(() => 130),
  once(process, 'SIGTERM').then(() => 143),
]);
const cluster = await startBenchCluster(values.checkout);
let peers: PeerBench | undefined;
let exitCode: number | undefined;
try {
  if (values.peers) {
    const names = positionals.flatMap((list) => list.split(','));
    peers = new PeerBench(cluster, names, print);
  }
  const done = peers?.run() ?? measure(cluster);
  exitCode = await Promise.race([interrupted, done.then(() => undefined)]);
} finally {
  peers?.printTables();
  await peers?.stop();
  await cluster.stop();
}
if (exitCode !== undefined) process.exit(exitCode); // what was interrupted may wait for minutes
