import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepUp, restartDelayMs, ServiceProcess } from '../src/start/services.ts';
import { until } from '../src/testing/until.ts';
import { isAlive } from './processes.ts';

const dir = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
const pidFile = join(dir, 'pid');
let stop = new AbortController();
let started: ServiceProcess | undefined;
afterEach(async () => {
  stop.abort();
  await started?.stop();
  rmSync(pidFile, { force: true });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const reports: string[] = [];

/** Starts a service whose URL never answers. */
function start(source: string): ServiceProcess {
  reports.length = 0;
  stop = new AbortController();
  const entry = join(dir, 'main.mjs');
  writeFileSync(
    entry,
    `import { writeFileSync } from 'node:fs';\nconst pidFile = ${JSON.stringify(pidFile)};\n${source}`,
  );
  started = new ServiceProcess(
    {
      name: 'api',
      entry,
      env: { PATH: process.env.PATH },
      deathSignal: 'KILL',
      readyUrl: 'http://127.0.0.1:1',
    },
    (line) => reports.push(line),
  );
  started.start();
  return started;
}

const keepStartedUp = (service: ServiceProcess) => keepUp(service, (line) => reports.push(line), stop.signal);

const STAY_ALIVE = 'writeFileSync(pidFile, String(process.pid)); setInterval(() => {}, 1000);';
const pid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0);

describe('a service as a process', () => {
  it('is started again after a kill, which is reported', async () => {
    const service = start(STAY_ALIVE);
    const kept = keepStartedUp(service);
    await until(() => pid() > 0);
    const first = pid();
    process.kill(first, 'SIGKILL');
    expect(await service.ended).toBe('SIGKILL');
    await until(() => pid() !== first);
    expect(reports).toEqual(['api ended with SIGKILL; restarting in 1 s']);
    stop.abort();
    await kept;
  });

  it('is stopped with SIGTERM, waited for, and not started again', async () => {
    const service = start(
      `process.on('SIGTERM', () => setTimeout(() => { writeFileSync(pidFile + '.drained', ''); process.exit(0); }, 200)); ${STAY_ALIVE}`,
    );
    const kept = keepStartedUp(service);
    await until(() => pid() > 0);
    stop.abort();
    await kept;
    await service.stop();
    expect(isAlive(pid())).toBe(false);
    expect(existsSync(`${pidFile}.drained`)).toBe(true);
    expect(await service.ended).toBe(undefined);
    expect(reports).toEqual([]);
  });

  it('is not waited for when it ended and would only start again later', async () => {
    const kept = keepStartedUp(start('process.exit(7)'));
    await until(() => reports.length > 0);
    stop.abort();
    await kept;
    expect(reports).toEqual(['api ended with code 7; restarting in 1 s']);
  });

  it('is not ready when it ends', async () => {
    await expect(start('process.exit(78)').ready(stop.signal)).rejects.toThrow(
      'api ended with code 78 before it was ready. Read its messages above.',
    );
  });

  it('waits 1, 2, 4, 8, 16 and then 30 s before consecutive restarts', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 100].map((failures) => restartDelayMs(failures) / 1000)).toEqual([
      1, 2, 4, 8, 16, 30, 30, 30,
    ]);
  });
});
