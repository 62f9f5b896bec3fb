import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** stderr of a command that had to wait for the server, or not, and had nothing else to say. */
export const NOTHING_BUT_WAITS = /^(http:\S+ (gives no answer|answers \d+)\. Trying again …\n)*$/;

export interface CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
}

export interface CliOptions {
  readonly server: string;
  readonly token?: string;
  readonly stdin?: string | Buffer;
  readonly node?: string;
  readonly cwd?: string;
  /** Default: the home folder of the user. */
  readonly home?: string;
}

/**
 * The command line client, built in a folder of its own. Without npm, whose two runs take 1 s of CPU time
 * each.
 */
export class BuiltCli {
  readonly folder: string;
  /** The home folder of the user. */
  readonly home: string;

  protected constructor(folder: string) {
    this.folder = folder;
    this.home = join(folder, 'home');
  }

  static async build(): Promise<BuiltCli> {
    const cli = new BuiltCli(await mkdtemp(join(tmpdir(), 'built-cli-')));
    await buildInto(join(cli.home, 'node_modules/pasteflow'));
    return cli;
  }

  get program(): string {
    return join(this.home, 'node_modules/pasteflow/pasteflow.mjs');
  }

  /** The environment of a user. */
  environment({
    server,
    token,
    home = this.home,
  }: Pick<CliOptions, 'server' | 'token' | 'home'>): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: home,
      PASTEFLOW_SERVER: server,
      ...(token !== undefined && { PASTEFLOW_TOKEN: token }),
    };
  }

  start(args: readonly string[], options: CliOptions): CliProcess {
    const { stdin = '', node = process.execPath, cwd = this.home } = options;
    const child = spawn(node, [this.program, ...args], {
      cwd,
      env: this.environment(options),
      stdio: 'pipe',
    });
    child.stdin.on('error', () => {}); // it may end before it has read everything
    child.stdin.end(stdin);
    const exited = new Promise<Pick<CliResult, 'code' | 'signal'>>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]).then(
      ([how, stdout, stderr]) => ({
        ...how,
        stdout,
        stderr,
      }),
    );
    return { child, ended };
  }

  run(args: readonly string[], options: CliOptions): Promise<CliResult> {
    return this.start(args, options).ended;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The command line client, packed with npm and installed from the tarball, as a user has it. */
export class PackedCli extends BuiltCli {
  readonly tarball: string;

  private constructor(folder: string, tarball: string) {
    super(folder);
    this.tarball = tarball;
  }

  static async install(): Promise<PackedCli> {
    const folder = await mkdtemp(join(tmpdir(), 'packed-cli-'));
    const built = join(folder, 'package');
    await buildInto(built);
    await execute('npm', ['pack', built, '--pack-destination', folder], { cwd: folder });
    const name = (await readdir(folder)).find((each) => each.endsWith('.tgz'));
    const tarball = join(folder, name ?? 'nothing was packed');
    await execute(
      'npm',
      ['install', '--offline', '--no-audit', '--no-fund', '--prefix', join(folder, 'home'), tarball],
      {
        cwd: folder,
      },
    );
    return new PackedCli(folder, tarball);
  }
}

async function buildInto(folder: string): Promise<void> {
  await execute(process.execPath, [
    fileURLToPath(new URL('../../../../clients/cli/build.ts', import.meta.url)),
    folder,
  ]);
}

/** The Node with this major version on PATH; undefined: there is none. */
export function findNode(major: number): string | undefined {
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return [...new Set(found)].find(
    (path) => existsSync(path) && execFileSync(path, ['--version']).toString().startsWith(`v${major}.`),
  );
}
