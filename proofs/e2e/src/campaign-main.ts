import { parseArgs } from 'node:util';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { runCampaign } from './campaign/run-campaign.ts';
import { ROOT } from './entries.ts';

/**
 * Judges a history with the checker, a Go program.
 * @returns whether each model explains all operations
 * @throws Error when Go is missing
 */
function isLinearizable(history: string): boolean {
  const { status, error } = spawnSync('go', ['run', '.', resolve(history)], {
    cwd: join(ROOT, 'proofs/checker'),
    stdio: 'inherit',
  });
  if (error !== undefined)
    throw new Error('--check needs Go 1.19 or later: apt-get install golang-go', { cause: error });
  return status === 0;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pastes: { type: 'string', default: '2000' },
    requests: { type: 'string', default: '' }, // of 25 pastes, one
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    check: { type: 'boolean', default: false },
    // A paste of a killed worker waits up to a minute, and a busy machine needs longer for a backlog.
    'quiet-within': { type: 'string', default: '600' },
    fault: { type: 'string', multiple: true },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns whether nothing was lost */
async function run(historyFile: string): Promise<boolean> {
  const options = {
    pastes: Number(values.pastes),
    requests: Number(values.requests || Math.ceil(Number(values.pastes) / 25)),
    kills: Number(values.kills),
    seed: Number(values.seed),
    quietWithinSeconds: Number(values['quiet-within']),
    faults: values.fault,
    historyFile,
  };
  const faults = (values.fault ?? []).map((name) => ` --fault '${name}'`).join('');
  const command = `npm run proof -- campaign --pastes ${options.pastes} --requests ${options.requests} --kills ${options.kills} --seed ${options.seed}${faults}${values.check ? ' --check' : ''}`;
  print(command);
  const problems = await runCampaign(options, (line) =>
    print(`${Math.round(performance.now() / 1000)} s: ${line}`),
  );
  for (const problem of problems) print(problem);
  print(problems.length === 0 ? 'nothing was lost' : `${problems.length} problems; repeat with: ${command}`);
  print(`check the history again with: npm run proof -- campaign --check ${historyFile}`);
  return problems.length === 0;
}

const [given] = positionals;
const historyFile = given ?? `${ROOT}.pasteflow/campaign/${values.seed}/history.jsonl`;
const nothingWasLost = given !== undefined || (await run(historyFile));
const isExplained = !(values.check || given !== undefined) || isLinearizable(historyFile);
// Node, which frees its environment when nothing is left to do, was seen to spin there for minutes.
process.exit(nothingWasLost && isExplained ? 0 : 1);
