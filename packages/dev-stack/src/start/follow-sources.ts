import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from 'chokidar';
import { REPOSITORY } from '../stack-config.ts';
import { StackError, type Report } from '../stack-error.ts';
import type { DevServer } from './dev-server.ts';
import type { ServiceProcess } from './service-process.ts';

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
