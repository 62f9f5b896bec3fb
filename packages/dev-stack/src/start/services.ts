import { join } from 'node:path';
import { takePorts } from '../ports.ts';
import type { ServiceOfRole } from '../postgres/service-roles.ts';
import type { Report } from '../stack-error.ts';
import { REPOSITORY, type Address, type Environment, type StartConfig } from '../stack-config.ts';
import { ServiceProcess } from './service-process.ts';

const SERVICES = ['api', 'upload-worker', 'janitor'] as const;

/** Where debuggers attach to api, upload-worker and janitor in development: .vscode/launch.json. */
const DEBUG_PORTS = [9229, 9230, 9231] as const;

export interface Addresses {
  /** Where clients reach the api. */
  public: Address;
  /** Where the api listens. In development that is behind the development server. */
  api: Address;
  /** The addresses of api, upload-worker and janitor. */
  metrics: readonly Address[];
  /** Where the janitor serves the operations page. */
  operations: Address;
}

/**
 * Chooses every port before anything is started, so that a port in use is reported at once and free ports are
 * known here.
 */
export async function chooseAddresses(
  { api, metricsHost, metricsPorts, operations }: StartConfig,
  isDevelopment: boolean,
): Promise<Addresses> {
  const [publicPort = 0, hiddenPort = 0, operationsPort = 0, ...metrics] = await takePorts([
    { ...api, setting: 'API_PORT' },
    { port: 0, setting: 'API_PORT' },
    { ...operations, setting: 'OPS_PORT' },
    ...metricsPorts.map((port) => ({ host: metricsHost, port, setting: 'METRICS_PORT' })),
  ]);
  const address = { host: api.host, port: publicPort };
  return {
    public: address,
    api: isDevelopment ? { host: '127.0.0.1', port: hiddenPort } : address,
    operations: { host: operations.host, port: operationsPort },
    metrics: metrics.map((port) => ({ host: metricsHost, port })),
  };
}

export function createServices(
  config: StartConfig,
  addresses: Addresses,
  environmentOf: (service: ServiceOfRole) => Environment,
  { report, isDevelopment }: { report: Report; isDevelopment: boolean },
): ServiceProcess[] {
  // The embedded stack dies with this process, so that a service has nothing to drain into. SIGKILL frees its
  // port for the next start.
  const deathSignal = config.embeddedPostgres || config.embeddedAws ? 'KILL' : 'TERM';
  return SERVICES.map((name, index) => {
    const metrics = addresses.metrics[index] as Address;
    const env: Record<string, string | undefined> = {
      ...environmentOf(name),
      API_HOST: addresses.api.host,
      API_PORT: String(addresses.api.port),
      METRICS_PORT: String(metrics.port),
      OPS_PORT: String(addresses.operations.port),
    };
    env.NODE_ENV ||= 'development';
    if (isDevelopment) {
      env.PUBLIC_URL ||= reachableUrl(addresses.public);
      env.LOG_FORMAT ||= 'pretty';
    }
    return new ServiceProcess(
      {
        name,
        entry: join(REPOSITORY, 'services', name, 'src/main.ts'),
        env,
        deathSignal,
        readyUrl: `${reachableUrl(metrics)}/readyz`,
        // Published by http only: otherwise Node prints the URL at each start.
        nodeOptions: isDevelopment
          ? [`--inspect=127.0.0.1:${DEBUG_PORTS[index]}`, '--inspect-publish-uid=http']
          : [],
      },
      report,
    );
  });
}

/** The URL of an address; for a wildcard address that of the loopback interface. */
export function reachableUrl({ host, port }: Address): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
