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
const out = process.stdout;
out.write(`${command}\n`);
const startedAt = performance.now();
const report = (line: string): void => {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  out.write(out.isTTY ? `\r\u001B[2K${seconds} s: ${line}` : `${seconds} s: ${line}\n`);
};
const problems = await runCampaign(options, report);
if (out.isTTY) out.write('\n');
for (const problem of problems) out.write(`${problem}\n`);
out.write(
  problems.length === 0 ? 'nothing was lost\n' : `${problems.length} problems; repeat with: ${command}\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
