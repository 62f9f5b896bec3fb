import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** https://schemathesis.readthedocs.io. Generates requests from an OpenAPI document, and compares the answers with it. */
const VERSION = '4.32.5';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
const FOLDER = join(CACHE, `schemathesis-${VERSION}`);
const REPORT = join(FOLDER, 'report.json');
const CONFIG = join(FOLDER, 'schemathesis.toml');
/** Written last: an installation that was broken off is made anew. */
const INSTALLED = join(FOLDER, 'installed');

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
 * Installs Schemathesis at the first run, and runs it with its output on stdout. Of its checks one is left out: a request that keeps to
 * the document may still be refused, for example because its cursor is of no page, its If-Match of no version, or its key was used before.
 */
export async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisResult> {
  if (!existsSync(INSTALLED)) await install();
  writeFileSync(CONFIG, configOf(options));
  rmSync(REPORT, { force: true });
  const args = [
    `--config-file=${CONFIG}`,
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
    `--report-json-path=${REPORT}`,
    '--checks=all',
    '--exclude-checks=positive_data_acceptance',
  ];
  const code = await run(join(FOLDER, 'venv/bin/schemathesis'), args);
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as {
    readonly operations: { readonly total: number; readonly tested: number };
    readonly test_cases: { readonly generated: number };
  };
  return { isGood: code === 0, operations: report.operations, testCases: report.test_cases.generated };
}

async function install(): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const venv = join(FOLDER, 'venv');
  const commands = [
    ['python3', '-m', 'venv', venv],
    [join(venv, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`],
  ] as const;
  for (const [command, ...args] of commands) {
    const code = await run(command, args);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: see its messages above.`);
  }
  writeFileSync(INSTALLED, '');
}

/** Only for GET: a DELETE would remove what the other operations read. */
function configOf({ existing }: SchemathesisOptions): string {
  const parameters = Object.entries(existing).map(([name, value]) => `"path.${name}" = "${value}"`);
  return ['[[operations]]', 'include-method = "GET"', `parameters = { ${parameters.join(', ')} }`, ''].join(
    '\n',
  );
}

async function run(command: string, args: readonly string[]): Promise<number> {
  // In its own folder, because Schemathesis leaves files in the current one.
  const child = spawn(command, args, { cwd: FOLDER, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
