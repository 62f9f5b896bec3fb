import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProgram, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { freePort } from './ports.ts';

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
  readonly #process: SpawnedProcess;
  readonly #port: number;

  private constructor(folder: string, process: SpawnedProcess, port: number) {
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
    const process = spawnProgram(['pgbouncer', join(folder, 'pgbouncer.ini')], {
      env: ENVIRONMENT,
      ...AS_NOBODY,
    });
    await process.waitFor(/process up/);
    return new Pgbouncer(folder, process, port);
  }

  /** The same URL through the pooler. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String(this.#port);
    return url.href;
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function userLine(url: string): string {
  const { username, password } = new URL(url);
  return `"${username}" "${password}"`;
}
