import { setTimeout as sleep } from 'node:timers/promises';
import { aborted } from '../run-main.ts';
import type { Report } from '../stack-error.ts';
import type { ServiceProcess } from './service-process.ts';

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
