import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../stack-error.ts';
import { startPostgres, type Postgres, type PostgresOptions } from './start-postgres.ts';

const RESTART_AFTER_MS = 1000;

/** Like startPostgres, and restarts the server on the same port whenever it ends without `stop()`. */
export async function keepPostgresUp(
  options: PostgresOptions,
  report: Report,
): Promise<Pick<Postgres, 'url' | 'port' | 'stop'>> {
  let current = await startPostgres(options);
  const again = { ...options, port: current.port };
  const stopping = new AbortController();

  const watch = async () => {
    while (!stopping.signal.aborted) {
      await current.exited;
      if (stopping.signal.aborted) return;
      report('Postgres ended unexpectedly; restarting');
      await current.stop(); // releases the lock on the data folder
      await sleep(RESTART_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      current = await startPostgres(again).catch((error: Error) => {
        report(error.message);
        return current; // This server has ended, so the next round tries again.
      });
    }
  };
  const watched = watch();
  return {
    url: current.url,
    port: current.port,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watched;
      await current.stop(); // A restart under way may have started another server.
    },
  };
}
