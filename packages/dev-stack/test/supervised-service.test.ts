import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { restartDelayMs, SupervisedService } from '../src/start/supervised-service.ts';
import { isAlive, until } from './processes.ts';

jest.setTimeout(60_000);

const dir = mkdtempSync(join(tmpdir(), 'pasteflow-test-'));
const pidFile = join(dir, 'pid');
const started: SupervisedService[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop();
  rmSync(pidFile, { force: true });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const reports: string[] = [];

function supervise(source: string, { keepUp = true } = {}): SupervisedService {
  reports.length = 0;
  const entry = join(dir, 'main.mjs');
  writeFileSync(
    entry,
    `import { writeFileSync } from 'node:fs';\nconst pidFile = ${JSON.stringify(pidFile)};\n${source}`,
  );
  const definition = { name: 'api', entry, env: { PATH: process.env.PATH }, deathSignal: 'KILL' } as const;
  const service = new SupervisedService(definition, (line) => reports.push(line));
  started.push(service);
  if (keepUp) service.keepUp();
  return service;
}

const STAY_ALIVE = 'writeFileSync(pidFile, String(process.pid)); setInterval(() => {}, 1000);';
const pid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0);

describe('SupervisedService', () => {
  it('restarts a service that was killed, and reports the restart', async () => {
    const service = supervise(STAY_ALIVE);
    await until(() => pid() > 0);
    const first = pid();
    process.kill(first, 'SIGKILL');
    expect(await service.firstEnd).toBe('SIGKILL');
    await until(() => pid() !== first);
    expect(reports).toEqual(['api ended with SIGKILL; restarting in 1 s']);
  });

  it('stops a service with SIGTERM, waits for its end, and does not restart it', async () => {
    const service = supervise(
      `process.on('SIGTERM', () => setTimeout(() => { writeFileSync(pidFile + '.drained', ''); process.exit(0); }, 200)); ${STAY_ALIVE}`,
    );
    await until(() => pid() > 0);
    await service.stop();
    expect(isAlive(pid())).toBe(false);
    expect(existsSync(`${pidFile}.drained`)).toBe(true);
    expect(reports).toEqual([]);
  });

  it('stops immediately while it waits for the restart of a service', async () => {
    const service = supervise('process.exit(7)');
    expect(await service.firstEnd).toBe('code 7');
    await until(() => reports.length > 0);
    await service.stop();
    expect(reports).toEqual(['api ended with code 7; restarting in 1 s']);
  });

  it('does not restart a service that ends before keepUp()', async () => {
    const service = supervise('process.exit(78)', { keepUp: false });
    expect(await service.firstEnd).toBe('code 78');
    await service.stop();
    expect(reports).toEqual([]);
  });

  it('waits 1, 2, 4, 8, 16 and then 30 s before consecutive restarts', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 100].map((failures) => restartDelayMs(failures) / 1000)).toEqual([
      1, 2, 4, 8, 16, 30, 30, 30,
    ]);
  });
});
