import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takePorts } from '../ports.ts';
import { type Report, StackError } from '../stack-error.ts';
import { REPOSITORY, type Address, type Environment, type StartConfig } from '../stack-config.ts';
import { SupervisedService } from './supervised-service.ts';

const SERVICES = ['api', 'upload-worker', 'janitor'] as const;
type ServiceName = (typeof SERVICES)[number];

export interface ServiceAddresses {
  api: Address;
  /** The addresses of api, upload-worker and janitor. */
  metrics: readonly Address[];
}

/**
 * Chooses every port before anything is started, so that a port in use is reported at once and free ports are
 * known here.
 */
export async function chooseAddresses({
  api,
  metricsHost,
  metricsPorts,
}: StartConfig): Promise<ServiceAddresses> {
  const [apiPort = 0, ...metrics] = await takePorts([
    { ...api, setting: 'API_PORT' },
    ...metricsPorts.map((port) => ({ host: metricsHost, port, setting: 'METRICS_PORT' })),
  ]);
  return {
    api: { host: api.host, port: apiPort },
    metrics: metrics.map((port) => ({ host: metricsHost, port })),
  };
}

export function startServices(
  config: StartConfig,
  addresses: ServiceAddresses,
  environmentOf: (service: ServiceName) => Environment,
  report: Report,
): SupervisedService[] {
  // The embedded stack dies with this process, so that a service has nothing to drain into. SIGKILL frees its
  // port for the next start.
  const deathSignal = config.embeddedPostgres || config.embeddedAws ? 'KILL' : 'TERM';
  const API_PORT = String(addresses.api.port);
  return SERVICES.map((name, index) => {
    const entry = join(REPOSITORY, 'services', name, 'src/main.ts');
    const METRICS_PORT = String(addresses.metrics[index]?.port);
    return new SupervisedService(
      { name, entry, env: { ...environmentOf(name), API_PORT, METRICS_PORT }, deathSignal },
      report,
    );
  });
}

const READY_WITHIN_MS = 60_000;

/**
 * Resolves when the /readyz of every service has answered 200, or when `stop` is aborted. From then on,
 * services that end are restarted.
 * @throws StackError when a service ends before that, or is not ready within 60 s
 */
export async function becomeReady(
  services: readonly SupervisedService[],
  { api, metrics }: ServiceAddresses,
  stop: AbortSignal,
): Promise<void> {
  const ends = services.map(async ({ name, firstEnd }) => `${name} ended with ${await firstEnd}`);
  const waiting = new Set([api, ...metrics].map((address) => `${reachableUrl(address)}/readyz`));
  const deadline = performance.now() + READY_WITHIN_MS;
  while (waiting.size > 0 && !stop.aborted) {
    const end = await Promise.race([...ends, sleep(100)]);
    if (end !== undefined && !stop.aborted)
      throw new StackError('service-failed', `${end} before Pasteflow was ready. Read its message above.`);
    for (const url of waiting) if (await answersOk(url)) waiting.delete(url);
    if (waiting.size > 0 && performance.now() > deadline)
      throw new StackError(
        'service-failed',
        `Pasteflow was not ready within ${READY_WITHIN_MS / 1000} s: ${[...waiting].join(' and ')} did not answer 200. Read the messages above.`,
      );
  }
  for (const service of services) service.keepUp();
}

/** The URL of an address; for a wildcard address that of the loopback interface. */
export function reachableUrl({ host, port }: Address): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
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
