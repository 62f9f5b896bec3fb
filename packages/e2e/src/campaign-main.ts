import { parseArgs } from 'node:util';
import { runCampaign } from './campaign/run-campaign.ts';

const { values } = parseArgs({
  options: {
    pastes: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const options = {
  pastes: Number(values.pastes),
  kills: Number(values.kills),
  seed: Number(values.seed),
};
const command = `npm run proof -- campaign --pastes ${options.pastes} --kills ${options.kills} --seed ${options.seed}`;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(command);
const problems = await runCampaign(options, (line) =>
  print(`${Math.round(performance.now() / 1000)} s: ${line}`),
);
for (const problem of problems) print(problem);
print(problems.length === 0 ? 'nothing was lost' : `${problems.length} problems; repeat with: ${command}`);
process.exitCode = problems.length === 0 ? 0 : 1;
