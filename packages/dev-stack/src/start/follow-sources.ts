import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { watch } from 'chokidar';
import { type Address, REPOSITORY } from '../stack-config.ts';
import { type Report, StackError } from '../stack-error.ts';
import type { ServiceProcess } from './services.ts';

export interface Running {
  readonly services: readonly ServiceProcess[];
  readonly server: DevServer;
  readonly report: Report;
}

/** A checkout, or an editor that saves all files, writes several files. */
const SETTLE_MS = 50;

/**
 * Restarts each service after a change in a package that it uses, until `stop` is aborted. Changes that
 * cannot be compiled restart nothing.
 */
export async function followSources(running: Running, stop: AbortSignal): Promise<void> {
  const { services, report } = running;
  const folders = new Map(services.map((service) => [service, foldersOf(`services/${service.name}`)]));
  const changed = new Set<string>();
  let change = Promise.withResolvers<void>();
  stop.addEventListener('abort', () => change.resolve(), { once: true });
  // Not fs.watch: on Linux it loses a file when an editor renames its new version over it (24.21).
  const sources = `{${[...new Set([...folders.values()].flat())].join()}}/{src,browser,styles}`;
  const watcher = watch(globSync(sources, { cwd: REPOSITORY }), { cwd: REPOSITORY, ignoreInitial: true });
  watcher.on('error', (error) => report(`The sources can't be watched: ${String(error)}.`));
  watcher.on('all', (_event, path) => {
    changed.add(path);
    change.resolve();
  });
  try {
    await once(watcher, 'ready');
    for (const service of services) void reportEnd(service, running, stop);
    report('Each service restarts when a source that it uses changes.\n');
    for (;;) {
      await change.promise;
      await sleep(SETTLE_MS);
      if (stop.aborted) return;
      change = Promise.withResolvers();
      const paths = [...changed];
      if (!(await canRun(paths, report))) continue; // These paths are checked again after the next change.
      for (const path of paths) changed.delete(path);
      const users = services.filter((service) =>
        folders.get(service)?.some((folder) => paths.some((path) => path.startsWith(`${folder}/`))),
      );
      if (users.length > 0) {
        const what = paths.length === 1 ? `${paths[0]} has` : `${paths.length} sources have`;
        report(`\n${what} changed: restarting ${users.map(({ name }) => name).join(', ')}`);
      }
      await Promise.all(users.map((service) => restart(service, running, stop)));
    }
  } finally {
    await watcher.close();
  }
}

/** The folder of a package, and those of the packages on which it depends, directly or not. */
function foldersOf(folder: string): string[] {
  const manifest = readFileSync(join(REPOSITORY, folder, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
  const used = Object.keys(dependencies).filter((name) => name.startsWith('@pasteflow/'));
  const places = used.flatMap((name) =>
    ['packages', 'clients'].map((group) => name.replace('@pasteflow', group)),
  );
  return [folder, ...places.filter((place) => existsSync(join(REPOSITORY, place))).flatMap(foldersOf)];
}

/** Checks the syntax of the sources, and builds what browsers load. */
async function canRun(paths: readonly string[], report: Report): Promise<boolean> {
  const problem = paths.map(syntaxProblem).find((each) => each !== undefined);
  if (problem !== undefined) report(problem);
  const bootstrap = [join(REPOSITORY, 'scripts/bootstrap.mjs')];
  const isBuilt = async () =>
    (await once(spawn(process.execPath, bootstrap, { stdio: 'inherit' }), 'exit'))[0] === 0;
  if (problem === undefined && (await isBuilt())) return true;
  report('Nothing was restarted: mend the source above.');
  return false;
}

/** @returns the place and the problem, as Node prints them */
function syntaxProblem(path: string): string | undefined {
  const file = join(REPOSITORY, path);
  if (!path.endsWith('.ts') || !existsSync(file)) return undefined;
  try {
    stripTypeScriptTypes(readFileSync(file, 'utf8'), { sourceUrl: path });
    return undefined;
  } catch (error) {
    return (error as Error).stack?.split('\n    at ')[0];
  }
}

async function restart(service: ServiceProcess, running: Running, stop: AbortSignal): Promise<void> {
  const { server, report } = running;
  if (service.name === 'api') server.hold();
  await service.stop();
  service.start();
  try {
    await service.ready(stop);
    if (service.name === 'api') server.release();
    void reportEnd(service, running, stop);
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    report(`${error.message} It starts again when a source changes.`);
  }
}

async function reportEnd(
  service: ServiceProcess,
  { server, report }: Running,
  stop: AbortSignal,
): Promise<void> {
  const how = await service.ended;
  if (how === undefined || stop.aborted) return;
  if (service.name === 'api') server.hold();
  report(`${service.name} ended with ${how}. It starts again when a source that it uses changes.`);
}

const SCRIPT = '/.dev/reload.js';
const EVENTS = '/.dev/events';
const TAG = `<script src="${SCRIPT}"></script>\n`;

/**
 * Stands between the clients and the api in development. Requests wait while the api restarts. Pages get a
 * script that reloads them; the Content-Security-Policy of the api allows it, because it is from the same
 * origin.
 */
export class DevServer {
  readonly #api: Address;
  readonly #server = createServer();
  readonly #openPages = new Set<ServerResponse>();
  #release = Promise.withResolvers<void>();
  #isHolding = true;

  constructor(api: Address) {
    this.#api = api;
    for (const event of ['request', 'checkContinue'])
      this.#server.on(event, (req: IncomingMessage, res: ServerResponse) => {
        this.#answer(req, res).catch(() => res.destroy());
      });
  }

  async start(address: Address): Promise<void> {
    this.#server.listen(address);
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** From now on requests wait. They wait from the beginning, too. */
  hold(): void {
    if (!this.#isHolding) this.#release = Promise.withResolvers();
    this.#isHolding = true;
  }

  /** The api is ready: sends it the requests that wait, and reloads the open pages. */
  release(): void {
    this.#isHolding = false;
    this.#release.resolve();
    for (const page of this.#openPages) page.write('data: reload\n\n');
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === SCRIPT) {
      res.writeHead(200, { 'content-type': 'text/javascript' });
      res.end(`new EventSource('${EVENTS}').onmessage = () => location.reload();\n`);
    } else if (req.url === EVENTS) {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      this.#openPages.add(res);
      res.once('close', () => this.#openPages.delete(res));
    } else {
      await this.#release.promise;
      if (!res.destroyed) this.#forward(req, res);
    }
  }

  #forward(req: IncomingMessage, res: ServerResponse): void {
    const { connection: _, ...headers } = req.headers;
    if (headers.accept?.includes('text/html')) delete headers['accept-encoding']; // the tag can't be added to gzip
    const { host, port } = this.#api;
    // A connection for each request: the api stops at once when it has no idle connections.
    const forwarded = request({ host, port, method: req.method, path: req.url, headers, agent: false });
    forwarded.on('continue', () => res.writeContinue());
    forwarded.on('response', (answer) => void passOn(answer, res).catch(() => res.destroy()));
    forwarded.on('error', ({ message }) => {
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end(`The api did not answer (${message}). Its log is in the terminal.\n`);
    });
    res.once('close', () => forwarded.destroy());
    req.pipe(forwarded);
  }
}

async function passOn(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const { connection: _, ...headers } = answer.headers;
  const isPage = headers['content-type']?.startsWith('text/html') && !headers['content-encoding'];
  if (isPage) delete headers['content-length'];
  res.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers).flushHeaders();
  await pipeline(answer, res, { end: false });
  res.end(isPage ? TAG : undefined);
}
