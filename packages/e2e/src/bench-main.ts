import { writeFileSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import { medians } from './bench/figure.ts';
import { baselineOf, growths, writeBaseline } from './bench/baseline.ts';
import { machine } from './bench/processes.ts';
import { runBench, runShortBench, startBenchCluster } from './bench/run-bench.ts';

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    'write-baseline': { type: 'boolean', default: false },
    json: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
    peers: { type: 'string' },
  },
});
const out = process.stdout;
const print = (line: string): boolean => out.write(`${line}\n`);
const cluster = await startBenchCluster(parseEnv(values.env.join('\n')));
try {
  const isShort = values.short || values['write-baseline'];
  const report = (line: string): boolean => print(`… ${line}`);
  const rounds = isShort
    ? await runShortBench(cluster, report)
    : [await runBench(cluster, report, values.peers)];
  const figures = medians(rounds);
  print(await machine());
  for (const { name, value, unit } of figures)
    print(`${name.padEnd(50)} ${value.toFixed(value < 100 ? 2 : 0).padStart(10)} ${unit}`);
  const measured = baselineOf(rounds);
  print(`${'CPU of a create, in controls'.padEnd(50)} ${measured.cpuRatio.toFixed(2).padStart(10)}`);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ machine: await machine(), figures }, null, 2)}\n`);
  if (values['write-baseline']) writeBaseline(measured);
  else if (values.short) {
    const problems = growths(measured);
    for (const problem of problems) print(problem);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await cluster.stop();
}
