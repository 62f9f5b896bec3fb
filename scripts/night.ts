// What .github/workflows/nightly.yml does, for which Node is all that must be installed.
//
//   node scripts/night.ts run PROOF SEED FOLDER   runs a proof; the folder gets its record and its log
//   node scripts/night.ts report FOLDER           records the proofs of a night, and opens issues for those that failed
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { GitHub } from './night/github.ts';
import { appendRecords, tell } from './night/report.ts';

/** What a person types to repeat it. The load of a soak is the same each time. */
const commands: Readonly<Record<string, (seed: number) => string>> = {
  campaign: (seed) => `npm run proof -- campaign --pastes 20000 --kills 200 --seed ${seed} --check`,
  interleavings: (seed) => `SEED=${seed} npm run proof -- interleavings`,
  soak: () => 'npm run proof -- soak --minutes 240',
};

const {
  GITHUB_API_URL: api = '',
  GITHUB_REPOSITORY: repository = '',
  GITHUB_RUN_ID: run = '',
  GITHUB_SERVER_URL: server = '',
  GITHUB_SHA: commit = '',
  GH_TOKEN: token = '',
} = process.env;
const about = { commit, run: `${server}/${repository}/actions/runs/${run}` };

const [verb, ...args] = process.argv.slice(2);
if (verb === 'run') process.exitCode = await runProof(args[0] ?? '', Number(args[1]), args[2] ?? '');
else if (verb === 'report') await report(args[0] ?? '');
else throw new Error('usage: node scripts/night.ts run PROOF SEED FOLDER | report FOLDER');

/** The record says that the proof did not end until it has, because a time limit ends this process, too. */
async function runProof(proof: string, seed: number, folder: string): Promise<number> {
  const command = commands[proof]?.(seed);
  if (command === undefined || !Number.isSafeInteger(seed)) throw new Error(`no proof ${proof} of ${seed}`);
  mkdirSync(folder, { recursive: true });
  const record = { proof, seed, command, ...about, began: new Date().toISOString() };
  const keep = (outcome: string): void =>
    writeFileSync(join(folder, 'record.json'), JSON.stringify({ ...record, outcome }));
  keep('did not end');
  const log = openSync(join(folder, 'log'), 'w');
  const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.on('data', (chunk: Buffer) => {
    writeSync(log, chunk); // before it is shown, so that a killed night has in its log what was seen
    process.stdout.write(chunk);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  closeSync(log);
  keep(code === 0 ? 'passed' : 'failed');
  return code ?? 1;
}

async function report(folder: string): Promise<void> {
  const records = globSync('**/record.json', { cwd: folder }).map((path) => {
    const log = join(folder, dirname(path), 'log');
    return {
      ...(JSON.parse(readFileSync(join(folder, path), 'utf8')) as {
        proof: string;
        outcome: string;
        command: string;
      }),
      log: existsSync(log) ? readFileSync(log, 'utf8') : '',
    };
  });
  const missing = Object.keys(commands)
    .filter((proof) => !records.some((record) => record.proof === proof))
    .map((proof) => ({ proof, outcome: 'did not begin', command: '', ...about, log: '' }));
  const all = [...records, ...missing];
  const github = new GitHub(api, repository, token);
  // First, because a repository may have no issues.
  await appendRecords(
    github,
    all.map(({ log: _, ...record }) => record),
  );
  for (const each of all.filter(({ outcome }) => outcome !== 'passed'))
    await tell(github, { ...each, ...about });
}
