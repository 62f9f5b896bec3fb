import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onParentDeath } from '@pasteflow/dev-stack/testing';
import { computed } from '../usage.ts';
import { freePort } from '../ports.ts';
import { until } from '../until.ts';
import { figure, type Figure } from './figure.ts';
import { makeLoad } from './make-load.ts';

const HOT_PASTES = 100;

/**
 * What a create and a read cost rustypaste, which stores each paste as a file. Measures nothing when
 * `cargo install rustypaste --root FOLDER` has not installed the program.
 */
export async function measureRustypaste(folder: string, count: number): Promise<Figure[]> {
  const program = join(folder, 'bin/rustypaste');
  if (!existsSync(program)) return [];
  const data = await mkdtemp(join(tmpdir(), 'pasteflow-rustypaste-'));
  try {
    return await runIn(data, program, (baseUrl, pid) => measure(baseUrl, pid, count));
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

async function runIn(
  data: string,
  program: string,
  use: (baseUrl: string, pid: number) => Promise<Figure[]>,
): Promise<Figure[]> {
  const address = `127.0.0.1:${await freePort()}`;
  await writeFile(join(data, 'config.toml'), configFor(address, join(data, 'files')));
  const [command, ...args] = [...onParentDeath('KILL'), program];
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'], // what is wrong with the config stands on stderr
    env: { CONFIG: join(data, 'config.toml'), RUST_LOG: 'error' },
  });
  const ended = once(child, 'close');
  ended.catch(() => {}); // awaited below
  try {
    const ready = until(
      () => fetch(`http://${address}/`, { redirect: 'manual' }).catch(() => null),
      (response) => response !== null,
    );
    ready.catch(() => {}); // when the program has ended before
    const early = ended.then(() => Promise.reject(new Error(`${program} ended before it was ready`)));
    await Promise.race([ready, early]);
    return await use(`http://${address}`, child.pid as number);
  } finally {
    child.kill('SIGKILL');
    await ended.catch(() => {});
  }
}

async function measure(baseUrl: string, pid: number, count: number): Promise<Figure[]> {
  const warmUp = await makeLoad({ baseUrl, kind: 'multipart create', count: 1000 });
  const paths = warmUp.shortCodes.slice(0, HOT_PASTES).map((code) => `/${code}`);
  const figures: Figure[] = [];
  for (const [name, kind] of [
    ['create', 'multipart create'],
    ['read', 'read'],
  ] as const) {
    const before = await computed([pid]);
    const { seconds, p99 } = await makeLoad({ baseUrl, kind, paths, count });
    const cpu = (await computed([pid])) - before;
    figures.push(
      figure(`rustypaste: ${name}s a second`, count / seconds, '1/s'),
      figure(`rustypaste: CPU of a ${name}`, (1000 * cpu) / count, 'ms'),
      figure(`rustypaste: ${name}, p99`, p99, 'ms'),
    );
  }
  return figures;
}

/** The settings of its own example that concern creates and reads. */
function configFor(address: string, files: string): string {
  return `
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
}
