import { parseArgs } from 'node:util';
import { baselineOf, compare, writeBaseline } from './bench/baseline.ts';
import { startBenchCluster } from './bench/costs.ts';
import { runBench, runShortBench } from './bench/run-bench.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    'write-baseline': { type: 'boolean', default: false },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const cluster = await startBenchCluster();
try {
  if (values.short || values['write-baseline']) {
    const measured = baselineOf(await runShortBench(cluster, print));
    const { lines, isGood } = compare(measured);
    for (const line of lines) print(line);
    if (values['write-baseline']) writeBaseline(measured);
    else process.exitCode = isGood ? 0 : 1;
  } else {
    await runBench(cluster, print);
  }
} finally {
  await cluster.stop();
}
