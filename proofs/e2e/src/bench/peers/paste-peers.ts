import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProgram } from '@pasteflow/dev-stack/testing';
import { installed } from '../../programs.ts';
import { freePort } from '../../ports.ts';
import { cpuSecondsOf } from '../../usage.ts';
import { randomText, type RequestOf } from '../load.ts';
import { type Contender, VERSIONS } from './comparison.ts';
import type { RunningPastes } from './measure-peers.ts';

interface PastePeer {
  readonly name: 'wastebin' | 'rustypaste';
  readonly lacks: string;
  /** Whether `cargo install` finds it. Otherwise its release is to be unpacked by hand. */
  readonly isOnCrates: boolean;
  /** Writes what it needs into its folder. @returns its environment */
  readonly configure: (address: string, data: string) => Promise<Record<string, string>>;
  readonly createOf: RequestOf;
  readonly pathOf: (body: string) => string;
}

const peers: readonly PastePeer[] = [
  {
    name: 'wastebin',
    lacks: 'know users, keep a trail, run in several copies; each create waits for the disk (SQLite)',
    isOnCrates: false,
    configure: (address, data) =>
      Promise.resolve({
        WASTEBIN_ADDRESS_PORT: address,
        WASTEBIN_BASE_URL: `http://${address}`,
        WASTEBIN_DATABASE_PATH: join(data, 'state.db'),
      }),
    createOf: () => ({
      method: 'POST',
      path: '/',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: randomText() }),
    }),
    pathOf: (body) => `/raw${(JSON.parse(body) as { path: string }).path}`,
  },
  {
    name: 'rustypaste',
    lacks:
      'know users, keep a trail, wait for the disk; each request lists the folder of all pastes, here 4,000',
    isOnCrates: true,
    configure: async (address, data) => {
      const config = join(data, 'config.toml');
      await writeFile(config, rustypasteConfig(address, join(data, 'files')));
      return { CONFIG: config };
    },
    createOf: () => ({
      method: 'POST',
      path: '/',
      headers: { 'content-type': 'multipart/form-data; boundary=paste' },
      body:
        '--paste\r\ncontent-disposition: form-data; name="file"; filename="paste.txt"\r\n\r\n' +
        `${randomText()}\r\n--paste--\r\n`,
    }),
    pathOf: (body) => new URL(body.trim()).pathname,
  },
];

/** The settings of its own example that concern creates and reads. */
const rustypasteConfig = (address: string, files: string): string => `
[server]
address = "${address}"
max_content_length = "10MB"
upload_path = "${files}"
timeout = "30s"

[paste]
random_url = { type = "alphanumeric", length = 10 }
default_extension = "txt"
duplicate_files = true
`;

export const pastePeers: readonly Contender<RunningPastes>[] = peers.map((peer) => {
  const { name, lacks, isOnCrates } = peer;
  const version = VERSIONS[name];
  let program = '';
  return {
    name,
    version,
    lacks,
    install: async () => {
      const folder = await installed(`${name}-${version}`, (root) =>
        isOnCrates
          ? [['cargo', 'install', '--quiet', '--locked', '--root', root, '--version', version, name]]
          : [],
      );
      program = join(folder, 'bin', name);
      if (!existsSync(program)) throw new Error(`Put the program of release ${version} at ${program}.`);
    },
    start: () => start(peer, program),
  };
});

async function start(peer: PastePeer, program: string): Promise<RunningPastes> {
  const data = await mkdtemp(join(tmpdir(), `pasteflow-${peer.name}-`));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const env = { ...(await peer.configure(address, data)), RUST_LOG: 'error' };
  let running = spawnProgram([program], { env });
  const untilReady = (): Promise<void> =>
    running.untilReady(async () => (await fetch(url, { redirect: 'manual' })).status > 0);
  const kill = async (): Promise<void> => {
    running.kill('SIGKILL');
    await running.exited;
  };
  const stop = async (): Promise<void> => {
    await kill().catch(() => {}); // a program that is missing has never started
    await rm(data, { recursive: true, force: true });
  };
  try {
    await untilReady();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    createOf: peer.createOf,
    created: 200,
    pathsOf: ({ bodies }) => bodies.map(peer.pathOf),
    untilStored: () => Promise.resolve(),
    cpuSeconds: () => cpuSecondsOf([running.pid]),
    restart: async () => {
      await kill();
      running = spawnProgram([program], { env });
      await untilReady();
    },
    stop,
  };
}
