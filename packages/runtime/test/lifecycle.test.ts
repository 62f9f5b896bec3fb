import { beforeEach, describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { createLogger, Lifecycle, type Component } from '../src/index.ts';

const log: string[] = [];
const stream = new Writable({
  write(chunk: Buffer, _encoding, done) {
    log.push(chunk.toString());
    done();
  },
});
const logger = createLogger({ service: 'test', level: 'error', format: 'json', stream });

let events: string[];

function component(name: string, overrides: Partial<Component> = {}): Component {
  return {
    name,
    start: () => Promise.resolve(void events.push(`start ${name}`)),
    stop: () => Promise.resolve(void events.push(`stop ${name}`)),
    ...overrides,
  };
}

beforeEach(() => {
  events = [];
  log.length = 0;
});

describe('the lifecycle', () => {
  it('starts the components in order and stops them in reverse order', async () => {
    const lifecycle = new Lifecycle([component('a'), component('b'), component('c')], logger);
    await lifecycle.start();
    expect(await lifecycle.stop()).toBe(true);
    expect(events).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('stops each component once, and resolves every call of stop() when all have stopped', async () => {
    const stopped = Promise.withResolvers<void>();
    const lifecycle = new Lifecycle(
      [component('a', { stop: () => stopped.promise.then(() => void events.push('stop a')) })],
      logger,
    );
    await lifecycle.start();
    const bothStopped = Promise.all([lifecycle.stop(), lifecycle.stop()]).then((both) =>
      events.push(`stopped ${both.join()}`),
    );
    stopped.resolve();
    await bothStopped;
    expect(events).toEqual(['start a', 'stop a', 'stopped true,true']);
  });

  it('stops the components that it began to start when one fails, and starts no other', async () => {
    const failing = component('b', { start: () => Promise.reject(new Error('no port')) });
    const lifecycle = new Lifecycle([component('a'), failing, component('c')], logger);
    await expect(lifecycle.start()).rejects.toThrow('no port');
    await lifecycle.stop();
    expect(events).toEqual(['start a', 'stop b', 'stop a']);
  });

  it('waits for the component that is starting when stop() is called, and starts no other', async () => {
    const starting = Promise.withResolvers<void>();
    const slow = component('b', { start: () => starting.promise.then(() => void events.push('start b')) });
    const lifecycle = new Lifecycle([component('a'), slow, component('c')], logger);
    const started = lifecycle.start();
    await new Promise(setImmediate);
    expect(lifecycle.busyWith).toBe('b');
    const stopped = lifecycle.stop();
    starting.resolve();
    await Promise.all([started, stopped]);
    expect(events).toEqual(['start a', 'start b', 'stop b', 'stop a']);
  });

  it('stops the others when one component fails to stop, logs the failure, and resolves to false', async () => {
    const failing = component('b', { stop: () => Promise.reject(new Error('stuck')) });
    const lifecycle = new Lifecycle([component('a'), failing], logger);
    await lifecycle.start();
    expect(await lifecycle.stop()).toBe(false);
    expect(events).toEqual(['start a', 'start b', 'stop a']);
    expect(log).toEqual([expect.stringContaining('"component":"b"')]);
  });

  it('names the component for which it waits', async () => {
    const stopping = Promise.withResolvers<void>();
    const lifecycle = new Lifecycle(
      [component('a'), component('slow', { stop: () => stopping.promise })],
      logger,
    );
    await lifecycle.start();
    expect(lifecycle.busyWith).toBeUndefined();
    const stopped = lifecycle.stop();
    await new Promise(setImmediate);
    expect(lifecycle.busyWith).toBe('slow');
    stopping.resolve();
    await stopped;
    expect(lifecycle.busyWith).toBeUndefined();
  });
});
