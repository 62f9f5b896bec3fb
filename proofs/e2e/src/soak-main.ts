import { parseArgs } from 'node:util';
import { leaks } from './soak/leaks.ts';
import { runSoak } from './soak/run-soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    rate: { type: 'string', default: '10' },
    leak: { type: 'string', default: 'none' },
  },
});
const { leak } = values;
if (leak !== 'none' && !(leak in leaks))
  throw new Error(`there is no leak ${leak}: ${Object.keys(leaks).join()}`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const problems = await runSoak({ minutes: Number(values.minutes), rate: Number(values.rate), leak }, print);
for (const problem of problems) print(problem);
if (problems.length === 0)
  print(leak === 'none' ? 'nothing grows and nothing was lost' : `the leak was found`);
process.exitCode = problems.length === 0 ? 0 : 1;
