import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonPackage } from '../../src/index.ts';

/** https://pypi.org/project/PBinCLI: the command line client of PrivateBin. */
const VERSION = '0.3.7';

export interface PBinCliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `send --json` prints. */
export interface SentPaste {
  readonly id: string;
  /** The key, which PBinCLI calls password. */
  readonly password: string;
  readonly deletetoken: string;
  readonly link: string;
  readonly deletelink: string;
}

/** PBinCLI as it is on PyPI, in a folder of its own. */
export class PBinCli {
  readonly folder: string;
  readonly #program: string;
  readonly #server: string;

  private constructor(folder: string, program: string, server: string) {
    this.folder = folder;
    this.#program = program;
    this.#server = server;
  }

  /** @param server the address of the service, with a slash at the end */
  static async install(server: string): Promise<PBinCli> {
    const installed = await pythonPackage('pbincli', VERSION);
    const folder = await mkdtemp(join(tmpdir(), 'pbincli-'));
    return new PBinCli(folder, join(installed, 'venv/bin/pbincli'), server);
  }

  run(args: readonly string[]): Promise<PBinCliResult> {
    return new Promise((resolve) => {
      const env = { PATH: process.env.PATH, HOME: this.folder, PRIVATEBIN_SERVER: this.#server };
      execFile(this.#program, args, { cwd: this.folder, env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      }).stdin?.end();
    });
  }

  async send(args: readonly string[]): Promise<SentPaste> {
    const { code, stdout, stderr } = await this.run(['send', '--json', ...args]);
    const line = stdout.split('\n').find((each) => each.startsWith('{'));
    if (code !== 0 || line === undefined)
      throw new Error(`pbincli send ended with ${code}: ${stdout}${stderr}`);
    return (JSON.parse(line) as { result: SentPaste }).result;
  }

  /** Reads a paste by its link. @returns the files that PBinCLI has written, by name */
  async get(link: string, args: readonly string[] = []): Promise<ReadonlyMap<string, Buffer>> {
    const output = await mkdtemp(join(this.folder, 'got-'));
    const { code, stdout, stderr } = await this.run(['get', link, '-o', output, ...args]);
    if (code !== 0) throw new Error(`pbincli get ended with ${code}: ${stdout}${stderr}`);
    const names = await readdir(output);
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(output, name))] as const)),
    );
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
