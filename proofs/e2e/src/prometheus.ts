import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProgram, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { freePort } from './ports.ts';

/** Tests with a Prometheus are skipped where it is missing, but not in CI. */
export function isPrometheusRequired(): boolean {
  // oxlint-disable-next-line node/no-process-env -- CI systems set this variable
  return Boolean(process.env.CI) || spawnSync('prometheus', ['--version']).status === 0;
}

/** Runs promtool. `ok` is true for exit code 0. Rejects when promtool is missing. */
export async function promtool(...args: string[]): Promise<{ ok: boolean; output: string }> {
  return await new Promise((resolve, reject) => {
    execFile('promtool', args, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT')
        reject(new Error('promtool is missing: apt-get install prometheus', { cause: error }));
      else resolve({ ok: error === null, output: stdout + stderr });
    });
  });
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** The time, and the value as text. */
  readonly value: readonly [number, string];
}

/** A process of this machine's Prometheus, with its own data. */
export class Prometheus {
  readonly #url: string;
  readonly #folder: string;
  readonly #process: SpawnedProcess;

  private constructor(url: string, folder: string, process: SpawnedProcess) {
    this.#url = url;
    this.#folder = folder;
    this.#process = process;
  }

  /** @param config in the format of prometheus.yml, with absolute paths */
  static async start(config: string): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-prometheus-'));
    await writeFile(join(folder, 'prometheus.yml'), config);
    const address = `127.0.0.1:${await freePort()}`;
    const process = spawnProgram([
      'prometheus',
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ]);
    const prometheus = new Prometheus(`http://${address}`, folder, process);
    try {
      await process.untilReady(async () => (await fetch(`http://${address}/-/ready`)).ok);
      return prometheus;
    } catch (error) {
      await prometheus.stop();
      throw error;
    }
  }

  /** The series of an expression at this moment. Rejects with the error of Prometheus. */
  async query(expression: string): Promise<Series[]> {
    const body = new URLSearchParams({ query: expression });
    const { data } = await this.#ask<{ result: Series[] }>('query', { method: 'POST', body });
    return data.result;
  }

  /** Every rule with its health: `ok`, `err`, or `unknown` before it was evaluated. */
  async rules(): Promise<
    { name: string; health: string; query: string; state: string; lastError?: string }[]
  > {
    const { data } = await this.#ask<{ groups: { rules: never[] }[] }>('rules');
    return data.groups.flatMap(({ rules }) => rules);
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL'); // its data is deleted anyway
    await this.#process.exited;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #ask<Data>(what: string, init?: RequestInit): Promise<{ data: Data }> {
    const response = await fetch(`${this.#url}/api/v1/${what}`, init);
    const answer = (await response.json()) as { status: string; error?: string; data: Data };
    if (answer.status !== 'success') throw new Error(`Prometheus: ${answer.error}`);
    return answer;
  }
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/**
 * The selectors in an expression, such as `up{job="api"}`. Recognised by their form: a name before a
 * parenthesis is a function, and the names in the parentheses of `by`, `on` and similar keywords are labels.
 */
export function selectorsIn(expression: string): string[] {
  const strings: string[] = [];
  const text = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, (string) => `"${strings.push(string) - 1}"`)
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]|\boffset\s+\w+/g, '');
  const selectors = [...text.matchAll(/([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/g)].flatMap(
    ([, name = '', labels = '', call]) =>
      call !== undefined || KEYWORDS.has(name.toLowerCase()) ? [] : [`${name}${labels}`],
  );
  return [...new Set(selectors)].map((selector) =>
    selector.replaceAll(/"(\d+)"/g, (_, index: string) => strings[Number(index)] ?? ''),
  );
}
