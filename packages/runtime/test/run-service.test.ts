import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fixture in a process of its own, with its output so far. */
class Process {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(fixture: 'service' | 'command', env: Record<string, string>, log: 'pipe' | number = 'pipe') {
    const file = new URL(`./fixtures/${fixture}.ts`, import.meta.url).pathname;
    const { PATH, NODE_COMPILE_CACHE } = process.env; // with compiled modules a start takes half the CPU time
    this.child = spawn(process.execPath, ['--conditions=source', file], {
      env: { PATH, NODE_COMPILE_CACHE, API_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', log],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exited = once(this.child, 'close').then(([code]) => code as number | null);
  }

  /** Resolves when stdout contains the text; rejects when the process ends without it. */
  async waitForOutput(text: string): Promise<void> {
    const ended = this.exited.then(() => 'ended');
    while (!this.stdout.includes(text)) {
      const next = await Promise.race([ended, once(this.child.stdout ?? this.child, 'data')]);
      if (next === 'ended' && !this.stdout.includes(text))
        throw new Error(`ended without "${text}": ${this.stderr}`);
    }
  }

  get log(): Record<string, unknown>[] {
    return this.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

const running: Process[] = [];

function run(...args: ConstructorParameters<typeof Process>): Process {
  const process = new Process(...args);
  running.push(process);
  return process;
}

/** Refuses every byte, as a full disk does. */
function fullDisk(): number {
  const file = openSync('/dev/full', 'w');
  opened.push(file);
  return file;
}

const opened: number[] = [];

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ exited }) => exited));
  for (const file of opened.splice(0)) closeSync(file);
});

describe('runService', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('drains on %s and exits with 0', async (signal) => {
    const service = run('service', { FIXTURE: 'works' });
    await service.waitForOutput('started');
    service.child.kill(signal);
    expect(await service.exited).toBe(0);
    expect(service.stdout).toMatch(/draining\ndrained\n$/);
    expect(service.log.map(({ message }) => message)).toEqual([
      'service started',
      'service stopping',
      'service stopped',
    ]);
    expect(service.log[0]).toMatchObject({
      service: 'fixture',
      instance: expect.stringMatching(/^fixture\//),
    });
  });

  it('says in one line without a stack that a check fails while the service starts, and warns afterwards', async () => {
    const service = run('service', { FIXTURE: 'is probed' });
    await service.waitForOutput('started');
    const port = /started (\d+)/.exec(service.stdout)?.[1];
    const lines = () => service.log.filter(({ check }) => check === 'bucket');
    const deadline = performance.now() + 60_000;
    while (lines().length < 2 && performance.now() < deadline)
      await (await fetch(`http://127.0.0.1:${port}/readyz`)).text();
    service.child.kill('SIGTERM');
    await service.exited;
    expect(lines().slice(0, 2)).toMatchObject([
      { level: 'info', message: 'not ready yet', reason: 'not seen yet' },
      { level: 'warn', message: 'readiness check failed', error: { message: 'not seen yet' } },
    ]);
    expect(lines()[0]).not.toHaveProperty('error');
  });

  it.each([
    ['warns', 0],
    ['warns and throws later', 1],
  ])('loses no count of held back lines at its end: %s', async (fixture, code) => {
    const service = run('service', { FIXTURE: fixture });
    await service.waitForOutput('started');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(code);
    const flood = service.log.filter(({ message }) => message === 'a flood');
    expect(flood[0]).toMatchObject({ n: 1 });
    expect(flood.at(-1)).toMatchObject({ n: 100 });
    expect(flood.reduce((sum, { suppressed }) => sum + Number(suppressed ?? 0), flood.length)).toBe(100);
  });

  it('loses no line of a turn that ends the process', async () => {
    const service = run('service', { FIXTURE: 'exits' });
    expect(await service.exited).toBe(3);
    const last = service.log.filter(({ message }) => message === 'a last line');
    expect(last.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });

  it('continues to drain when the signal comes again', async () => {
    const service = run('service', { FIXTURE: 'works' });
    await service.waitForOutput('started');
    service.child.kill('SIGINT');
    await service.waitForOutput('draining');
    service.child.kill('SIGINT');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(service.stdout).toContain('drained');
  });

  it('is ready after the start', async () => {
    const service = run('service', { FIXTURE: 'works' });
    await service.waitForOutput('started');
    const port = /started (\d+)/.exec(service.stdout)?.[1];
    await expect(fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status)).resolves.toBe(200);
  });

  it.each(['a full disk', 'a reader that is gone'])(
    'starts, works and stops with %s for its log, and counts the lines that are lost',
    async (log) => {
      const service = run('service', { FIXTURE: 'works' }, log === 'a full disk' ? fullDisk() : 'pipe');
      service.child.stderr?.destroy();
      await service.waitForOutput('started');
      const port = /started (\d+)/.exec(service.stdout)?.[1];
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(metrics).toMatch(/^log_lines_lost_total\{service="fixture"\} 1$/m); // 'service started'
      service.child.kill('SIGTERM');
      expect(await service.exited).toBe(0);
      expect(service.stdout).toMatch(/draining\ndrained\n$/);
    },
  );

  it('exits with 78 for a wrong configuration also when it cannot say why', async () => {
    const service = run('service', { FIXTURE: 'works', LOG_LEVEL: 'loud' }, fullDisk());
    expect(await service.exited).toBe(78);
  });

  it('names the component that hangs and exits with 1 when the deadline has passed', async () => {
    const service = run('service', { FIXTURE: 'hangs' });
    await service.waitForOutput('started');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(1);
    expect(service.log.at(-1)).toMatchObject({
      message: 'service did not stop in time',
      component: 'worker',
    });
  });

  it('stops by the deadline also while compose() still runs', async () => {
    const service = run('service', { FIXTURE: 'hangs in compose' });
    await service.waitForOutput('composing');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(1);
    expect(service.log.at(-1)).toMatchObject({ component: 'compose' });
  });

  it.each([
    ['throws later', 'uncaught error'],
    ['rejects later', 'unhandled rejection'],
    ['fails to start', 'no queue'],
  ])('logs the error, stops and exits with 1 when the service %s', async (fixture, message) => {
    const service = run('service', { FIXTURE: fixture });
    expect(await service.exited).toBe(1);
    expect(service.log).toContainEqual(
      expect.objectContaining({
        message: 'fatal error; process exiting',
        error: expect.objectContaining({ message }),
      }),
    );
    expect(service.stdout).toContain('drained');
  });

  it('exits with 1 when a component fails to stop', async () => {
    const service = run('service', { FIXTURE: 'fails to stop' });
    await service.waitForOutput('started');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(1);
    expect(service.log.at(-1)).toMatchObject({ message: 'service stopped' });
  });

  it('prints one message with every problem of the configuration, and exits with 78', async () => {
    const service = run('service', {
      LOG_LEVLE: 'debug',
      METRICS_PORT: 'x',
      API_PORT: '-1',
      FIXTURE: 'works',
    });
    expect(await service.exited).toBe(78);
    expect(service.stdout).toBe('');
    expect(service.stderr).toBe(
      [
        'fixture: The configuration has 3 problems:',
        '  METRICS_PORT is "x"; set it to a port from 0 to 65535 (0: any free port)',
        '  API_PORT is "-1"; set it to a port from 0 to 65535 (0: any free port)',
        '  LOG_LEVLE has no effect: there is no such setting; write LOG_LEVEL, or set LOG_LEVEL as well if something else reads LOG_LEVLE',
        '',
      ].join('\n'),
    );
  });

  it('refuses a misspelt setting, and warns of unknown ones that begin like settings', async () => {
    const refused = run('service', { FIXTURE: 'works', LOG_LEVELS: 'debug' });
    expect(await refused.exited).toBe(78);
    expect(refused.stderr).toContain('write LOG_LEVEL');
    const service = run('service', { FIXTURE: 'works', API_PORT_80_TCP: 'tcp://10.0.0.1:80' });
    await service.waitForOutput('started');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(service.log[0]).toMatchObject({ message: 'unknown settings ignored', names: ['API_PORT_80_TCP'] });
  });

  it('says in one sentence that its port is in use, and exits with 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const service = run('service', { FIXTURE: 'works', METRICS_PORT: String(port), LOG_LEVEL: 'error' });
    const code = await service.exited;
    other.close();
    expect(code).toBe(1);
    expect(service.stderr).toBe(
      `fixture: 127.0.0.1:${port} is in use by another program. Stop that program, or set METRICS_PORT to another port.\n`,
    );
  });
});

describe('runCommand', () => {
  it('writes only the result to stdout, and exits with 0', async () => {
    const command = run('command', {});
    expect(await command.exited).toBe(0);
    expect(command.stdout).toBe('{"done":1}\n');
    expect(command.log[0]).toMatchObject({ message: 'working' });
  });

  it('does its work and exits with 0 when its log cannot be written', async () => {
    const command = run('command', {}, fullDisk());
    expect(await command.exited).toBe(0);
    expect(command.stdout).toBe('{"done":1}\n');
  });

  it.each([
    ['a wrong configuration', { LOG_LEVEL: 'loud' }, 78, /^fixture: The configuration has 1 problem:\n.*\n$/],
    [
      'an error that the user can correct',
      { FIXTURE: 'cannot start' },
      1,
      /\nfixture: There is no such sweep\n$/,
    ],
    ['any other error', { FIXTURE: 'fails' }, 1, /"message":"boom"/],
  ])('exits with its own code for %s', async (_case, env, code, message) => {
    const command = run('command', env);
    expect(await command.exited).toBe(code);
    expect(command.stderr).toMatch(message);
  });
});
