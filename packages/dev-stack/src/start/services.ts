import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../postgres/keep-postgres-up.ts';
import { REPOSITORY, type Environment, type StartConfig } from '../stack-config.ts';
import { StackError } from '../stack-error.ts';
import { SupervisedService } from './supervised-service.ts';

const SERVICES = ['api', 'upload-worker', 'janitor'] as const;

export function startServices(config: StartConfig, env: Environment, report: Report): SupervisedService[] {
  // With the embedded stack, what a service would drain into dies in the same moment as we do; ended at once it
  // also leaves its port to the next start.
  const deathSignal = config.embeddedPostgres || config.embeddedAws ? 'KILL' : 'TERM';
  return SERVICES.map((name, index) => {
    const entry = join(REPOSITORY, 'services', name, 'src/main.ts');
    const METRICS_PORT = String(config.metricsPorts[index]);
    return new SupervisedService({ name, entry, env: { ...env, METRICS_PORT }, deathSignal }, report);
  });
}

const READY_WITHIN_MS = 60_000;

/** Resolves when `readyUrl` answers 200, or `stop` is aborted. A service that ends before that is a StackError. */
export async function becomeReady(
  readyUrl: string,
  services: SupervisedService[],
  stop: AbortSignal,
): Promise<void> {
  const ends = services.map(async ({ name, firstEnd }) => `${name} ended with ${await firstEnd}`);
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!stop.aborted) {
    const end = await Promise.race([...ends, sleep(100)]);
    if (end !== undefined && !stop.aborted)
      throw new StackError('service-failed', `${end} before Pasteflow was ready: see its message above.`);
    if (await answersOk(readyUrl)) return;
    if (performance.now() > deadline)
      throw new StackError(
        'service-failed',
        `The api was not ready within ${READY_WITHIN_MS / 1000} s: see its messages above, and ${readyUrl} for what it lacks.`,
      );
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
