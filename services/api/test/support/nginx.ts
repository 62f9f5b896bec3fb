import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProgram, type SpawnedProcess } from '@pasteflow/dev-stack/testing';
import { rawGet, type UndecodedAnswer } from './raw-get.ts';

// oxlint-disable-next-line node/no-process-env -- the path of programs, and what CI systems set
const { PATH = '', CI, ...inherited } = process.env;
/** Debian keeps it where only administrators look for programs. */
const ENVIRONMENT = { ...inherited, PATH: `${PATH}:/usr/sbin` };

/** `npm test` needs only Node: tests with an nginx are skipped where it is missing, but not in CI. */
export function isNginxRequired(): boolean {
  return Boolean(CI) || spawnSync('nginx', ['-v'], { env: ENVIRONMENT }).status === 0;
}

/**
 * The shared caches in front of the api. Both tell variants of an address apart by `Vary`.
 * - `obedient` keeps what Cache-Control allows it to keep.
 * - `greedy` keeps every answer for an hour, whatever its status and its Cache-Control.
 */
export type SharedCache = 'obedient' | 'greedy';

const CACHES: Readonly<Record<SharedCache, string>> = {
  obedient: '',
  greedy: 'proxy_ignore_headers Cache-Control Expires Set-Cookie; proxy_cache_valid any 1h;',
};

/** A process of this machine's nginx with empty caches, as a proxy of an api. */
export class Nginx {
  readonly #folder: string;
  readonly #process: SpawnedProcess;

  private constructor(folder: string, process: SpawnedProcess) {
    this.#folder = folder;
    this.#process = process;
  }

  /** @param upstream the URL of the api */
  static async start(upstream: string): Promise<Nginx> {
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-nginx-'));
    await writeFile(join(folder, 'nginx.conf'), configOf(folder, upstream));
    const args = ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')];
    const nginx = new Nginx(folder, spawnProgram(['nginx', ...args], { env: ENVIRONMENT }));
    await nginx.#process.untilReady(() => existsSync(nginx.#socketOf('greedy')));
    return nginx;
  }

  /** A request through a cache. The header `x-cache` of the answer says MISS or HIT. */
  async get(
    cache: SharedCache,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'GET',
  ): Promise<UndecodedAnswer> {
    return await rawGet(`http://127.0.0.1${path}`, headers, method, this.#socketOf(cache));
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL'); // its caches are deleted anyway
    await this.#process.exited;
    await rm(this.#folder, { recursive: true, force: true });
  }

  #socketOf(cache: SharedCache): string {
    return join(this.#folder, cache);
  }
}

/** One process and no master, so that a single signal ends it. */
function configOf(folder: string, upstream: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/temporary-${name};`)
    .join('\n');
  const servers = Object.entries(CACHES).map(
    ([name, directives]) => `
proxy_cache_path ${folder}/cache-${name} keys_zone=${name}:1m;
server {
  listen unix:${folder}/${name};
  location / {
    proxy_pass ${upstream};
    proxy_http_version 1.1;
    proxy_cache ${name};
    add_header X-Cache $upstream_cache_status always;
    ${directives}
  }
}`,
  );
  return `daemon off;
master_process off;
pid ${folder}/pid;
events {}
http {
access_log off;
${temporary}
${servers.join('\n')}
}
`;
}
