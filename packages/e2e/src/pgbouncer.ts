import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onParentDeath } from '@pasteflow/dev-stack/testing';
import { freePort } from './ports.ts';
import { until } from './until.ts';

/** `npm test` needs only Node: tests with a PgBouncer are skipped where it is missing, but not in CI. */
export function isPgbouncerRequired(): boolean {
  // oxlint-disable-next-line node/no-process-env -- CI systems set this variable
  return Boolean(process.env.CI) || spawnSync('pgbouncer', ['--version'], { env: ENVIRONMENT }).status === 0;
}

// oxlint-disable-next-line node/no-process-env -- the path of programs
const { PATH = '', ...inherited } = process.env;
/** Debian keeps it where only administrators look for programs. */
const ENVIRONMENT = { ...inherited, PATH: `${PATH}:/usr/sbin` };

/** A nobody: PgBouncer refuses to run as root. */
const AS_NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A process of this machine's PgBouncer in transaction mode, configured as docs/deploy.md says. */
export class Pgbouncer {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(folder: string, process: ChildProcess, port: number) {
    this.#folder = folder;
    this.#process = process;
    this.#port = port;
  }

  /** @param urls the URLs of the roles that may connect, all of one database */
  static async start(urls: readonly string[]): Promise<Pgbouncer> {
    const [{ hostname, port: server } = new URL('')] = urls.map((url) => new URL(url));
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-pgbouncer-'));
    const port = await freePort();
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'users.txt'), urls.map(userLine).join('\n'));
    await writeFile(
      join(folder, 'pgbouncer.ini'),
      `[databases]
* = host=${hostname} port=${server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = 5
ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, options
`,
    );
    const [command, ...args] = [...onParentDeath('KILL'), 'pgbouncer', join(folder, 'pgbouncer.ini')];
    const child = spawn(command, args, { stdio: 'ignore', env: ENVIRONMENT, ...AS_NOBODY });
    child.once('error', () => {}); // seen below, as a port on which nobody listens
    await until(() => answers(port));
    return new Pgbouncer(folder, child, port);
  }

  /** The same URL through the pooler. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String(this.#port);
    return url.href;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('close', resolve));
    if (this.#process.exitCode === null && this.#process.kill('SIGKILL')) await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function userLine(url: string): string {
  const { username, password } = new URL(url);
  return `"${username}" "${password}"`;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
