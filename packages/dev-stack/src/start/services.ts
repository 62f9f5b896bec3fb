import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { type DeathSignal, sourceCommand } from '../child-command.ts';
import { type Address, type Environment, REPOSITORY, type StartConfig } from '../stack-config.ts';
import { aborted, type Report, StackError } from '../stack-error.ts';
import { takePorts } from '../ports.ts';
import type { ServiceOfRole } from '../postgres/service-roles.ts';

export interface ServiceDefinition {
  name: string;
  /** The path of the TypeScript entry file. */
  entry: string;
  env: Environment;
  /** The signal that the service receives when this process is killed. */
  deathSignal: DeathSignal;
  /** Answers 200 when the service is ready. */
  readyUrl: string;
  nodeOptions?: readonly string[];
}

// A service drains for at most 10 s; 2 s remain for its exit.
const KILL_AFTER_MS = 12_000;
const READY_WITHIN_MS = 60_000;

/** A service as a child process, which can be started again after its end. */
export class ServiceProcess {
  readonly name: string;
  readonly #definition: ServiceDefinition;
  readonly #report: Report;
  #child: ChildProcess | undefined;
  #ended: Promise<string | undefined> = Promise.resolve(undefined);
  #isStopping = false;

  constructor(definition: ServiceDefinition, report: Report) {
    this.name = definition.name;
    this.#definition = definition;
    this.#report = report;
  }

  /** How the process that was started last ends: a signal, exit code or error, or undefined after `stop()`. */
  get ended(): Promise<string | undefined> {
    return this.#ended;
  }

  start(): void {
    const { entry, env, deathSignal, nodeOptions } = this.#definition;
    const [command, ...args] = sourceCommand(entry, [], deathSignal, nodeOptions);
    // Detached, so that a Ctrl-C in the terminal reaches only this process, which stops the services in
    // order.
    const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    this.#child = child;
    this.#isStopping = false;
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => resolve(this.#isStopping ? undefined : how);
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(signal ?? `code ${code}`));
    });
  }

  /**
   * Resolves when the service is ready, or when `stop` is aborted.
   * @throws StackError when the service ends before that, or is not ready within 60 s
   */
  async ready(stop: AbortSignal): Promise<void> {
    const { readyUrl } = this.#definition;
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await answersOk(readyUrl))) {
      const end = await Promise.race([this.#ended, sleep(20)]);
      if (stop.aborted) return;
      if (end !== undefined) throw failed(`${this.name} ended with ${end} before it was ready`);
      if (performance.now() > deadline)
        throw failed(
          `${this.name} was not ready within ${READY_WITHIN_MS / 1000} s: ${readyUrl} did not answer 200`,
        );
    }
  }

  /** Sends SIGTERM, and SIGKILL after 12 s. Resolves when the process has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child?.kill('SIGTERM');
    const harder = setTimeout(() => {
      this.#report(`${this.name} did not stop within ${KILL_AFTER_MS / 1000} s; killing it`);
      this.#child?.kill('SIGKILL');
    }, KILL_AFTER_MS);
    await this.#ended;
    clearTimeout(harder);
  }
}

function failed(what: string): StackError {
  return new StackError('service-failed', `${what}. Read its messages above.`);
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

const STEADY_AFTER_MS = 60_000;

/** The wait before a restart after `failures` consecutive failures (from 1): 1, 2, 4, 8, 16, then 30 s. */
export function restartDelayMs(failures: number): number {
  return Math.min(1000 * 2 ** (failures - 1), 30_000);
}

/** Starts a service again whenever it ends, until `stop` is aborted. */
export async function keepUp(service: ServiceProcess, report: Report, stop: AbortSignal): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    const startedAt = performance.now();
    const how = await Promise.race([service.ended, aborted(stop)]);
    if (stop.aborted) return;
    if (performance.now() - startedAt > STEADY_AFTER_MS) failures = 1;
    const delay = restartDelayMs(failures);
    report(`${service.name} ended with ${String(how)}; restarting in ${delay / 1000} s`);
    await sleep(delay, undefined, { signal: stop }).catch(() => {});
    if (stop.aborted) return;
    service.start();
  }
}

const SERVICES = ['api', 'upload-worker', 'janitor'] as const;

/** Where debuggers attach to api, upload-worker and janitor in development: .vscode/launch.json. */
const DEBUG_PORTS = [9229, 9230, 9231] as const;

interface Addresses {
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
