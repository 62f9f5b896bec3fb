// `npm run proof -- openapi`: Schemathesis generates requests for every operation of the OpenAPI document,
// valid and invalid ones, sends them to a running api, and compares each answer with the document.
import { parseArgs } from 'node:util';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster } from './cluster.ts';
import { pythonPackage } from './programs.ts';

/**
 * https://schemathesis.readthedocs.io. Generates requests from an OpenAPI document, and compares the answers
 * with it.
 */
const VERSION = '4.32.5';

interface SchemathesisOptions {
  readonly documentUrl: string;
  readonly token: string;
  /** For each operation. */
  readonly maxExamples: number;
  readonly seed: number;
  /** What exists, for the operations that read: by the name of the parameter in the path. */
  readonly existing: Readonly<Record<string, string>>;
}

interface SchemathesisResult {
  readonly isGood: boolean;
  readonly operations: { readonly total: number; readonly tested: number };
  readonly testCases: number;
}

/**
 * Installs Schemathesis at the first run, and runs it with its output on stdout. Of its checks one is left
 * out: a request that keeps to the document may still be refused, for example because its cursor is of no
 * page, its If-Match of no version, or its key was used before.
 */
async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisResult> {
  const folder = await pythonPackage('schemathesis', VERSION);
  const report = join(folder, 'report.json');
  const config = join(folder, 'schemathesis.toml');
  writeFileSync(config, configOf(options));
  rmSync(report, { force: true });
  const args = [
    `--config-file=${config}`,
    'run',
    options.documentUrl,
    `--header=Authorization: Bearer ${options.token}`,
    '--phases=examples,coverage,fuzzing',
    `--max-examples=${options.maxExamples}`,
    `--seed=${options.seed}`,
    '--workers=1',
    '--request-timeout=60',
    '--no-color',
    '--warnings=off',
    '--report=json',
    `--report-json-path=${report}`,
    '--checks=all',
    '--exclude-checks=positive_data_acceptance',
  ];
  const code = await run(folder, args);
  const { operations, test_cases: testCases } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly operations: { readonly total: number; readonly tested: number };
    readonly test_cases: { readonly generated: number };
  };
  return { isGood: code === 0, operations, testCases: testCases.generated };
}

/** Only for GET: a DELETE would remove what the other operations read. */
function configOf({ existing }: SchemathesisOptions): string {
  const parameters = Object.entries(existing).map(([name, value]) => `"path.${name}" = "${value}"`);
  return ['[[operations]]', 'include-method = "GET"', `parameters = { ${parameters.join(', ')} }`, ''].join(
    '\n',
  );
}

/** In its own folder, because Schemathesis leaves files in the current one. */
async function run(folder: string, args: readonly string[]): Promise<number> {
  const child = spawn(join(folder, 'venv/bin/schemathesis'), args, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const env = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
  RATE_LIMIT_BYTES_PER_HOUR: '0',
  RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR: '0',
  MAX_OPEN_JOBS_PER_USER: '1000000',
};
const cluster = await startCluster({ janitors: 0, keepRequests: false, env });
try {
  const user = await cluster.user('schemathesis');
  const { short_code: shortCode } = await user.pastes.create('some content', { wait: true });
  const parameters = { source_short_code: shortCode };
  const { job_id: id } = await user.jobs.create({ job_type: 'import', parameters });
  await user.jobs.wait(id).catch(() => null); // the paste is no archive: the job has failed
  const { isGood, operations, testCases } = await runSchemathesis({
    documentUrl: `${cluster.http().url}/openapi.json`,
    token: user.token,
    maxExamples: Number(values.examples),
    seed: Number(values.seed),
    existing: { short_code: shortCode, id },
  });
  const { tested, total } = operations;
  process.stdout.write(`${testCases} requests to ${tested} of ${total} operations\n`);
  process.exitCode = isGood && tested === total ? 0 : 1;
} finally {
  await cluster.stop();
}
