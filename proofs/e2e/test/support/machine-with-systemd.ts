import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../src/entries.ts';
import { until } from '@pasteflow/dev-stack/testing';

const SCRIPT = join(import.meta.dirname, 'machine-with-systemd');

const NEEDED = ['setpriv', 'unshare', 'nsenter', 'systemd-run', 'pg_ctlcluster', 'dbus-daemon', 'chattr'];

/** What this machine lacks for one; empty: nothing. */
export function missingForMachine(): readonly string[] {
  const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
  const mayUnshare = spawnSync('unshare', ['--mount', '--pid', '--net', '--cgroup', 'true']).status === 0;
  return process.getuid?.() === 0 && mayUnshare ? missing : ['root, who may make namespaces', ...missing];
}

/** A systemd in namespaces of its own, with a copy of this machine's files and the checkout in /srv/pasteflow. */
export class MachineWithSystemd {
  readonly #folder: string;
  readonly #script: ChildProcess;
  #systemd = '';

  private constructor(folder: string, script: ChildProcess) {
    this.#folder = folder;
    this.#script = script;
  }

  static async boot(): Promise<MachineWithSystemd> {
    // Not below /tmp, which may be a tmpfs, whose files can't have the attribute S.
    const folder = await mkdtemp('/var/tmp/pasteflow-machine-');
    const script = spawn('setpriv', ['--pdeathsig', 'KILL', SCRIPT, folder, ROOT], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const machine = new MachineWithSystemd(folder, script);
    try {
      await until(() => machine.#hasBooted());
      return machine;
    } catch (error) {
      await machine.stop();
      throw error;
    }
  }

  async #hasBooted(): Promise<boolean> {
    const { pid } = this.#script;
    this.#systemd = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
    const name = await readFile(`/proc/${this.#systemd}/comm`, 'utf8');
    return (
      name.trim() === 'systemd' && this.#enter('systemctl is-system-running', []).stdout.trim() === 'running'
    );
  }

  /**
   * Runs commands as they stand, as root's shell does, in /srv/pasteflow.
   * @returns what they wrote to stdout
   * @throws when one of them fails, with what they wrote
   */
  run(commands: string, { withNetwork = false } = {}): string {
    const { status, stdout, stderr } = this.#enter(commands, withNetwork ? [] : ['--net']);
    if (status === 0) return stdout;
    const journal = this.#enter('journalctl --no-pager --lines 60', []).stdout;
    throw new Error(`${commands}\nended with ${status}:\n${stdout}${stderr}\n${journal}`);
  }

  #enter(commands: string, namespaces: readonly string[]) {
    const target = ['--target', this.#systemd, '--mount', '--pid', '--uts', '--ipc', '--cgroup'];
    // oxlint-disable-next-line node/no-process-env -- Go and the registry of npm may be anywhere
    const { PATH = '', HOME = '/root', npm_config_registry } = process.env;
    const shell = ['bash', '-e', '-c', `cd /srv/pasteflow\n${commands}`];
    return spawnSync('nsenter', [...target, ...namespaces, ...shell], {
      encoding: 'utf8',
      env: { PATH: `/usr/local/sbin:/usr/local/bin:${PATH}`, HOME, npm_config_registry },
      maxBuffer: 64 * 1024 * 1024,
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.#script, 'exit');
    this.#script.kill('SIGKILL'); // and with it all processes of the machine
    await ended;
    const groups = globSync(`/sys/fs/cgroup{,/unified}/pasteflow-one-machine-${this.#script.pid}{,/**}`);
    const empty = async () => {
      // The deepest first. A group can be removed when the last of its processes has ended.
      for (const group of groups.toSorted((a, b) => b.length - a.length)) await rmdir(group).catch(() => {});
      return globSync(groups.slice(0, 1)).length;
    };
    await until(empty, (left) => left === 0);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
