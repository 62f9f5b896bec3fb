import { expect, it } from '@jest/globals';
import { ConfigError, StartCheck } from '../src/index.ts';

function checkWith(...answers: (() => Promise<readonly string[]>)[]) {
  const failed = Promise.withResolvers<ConfigError>();
  const component = new StartCheck({
    name: 'check',
    findProblems: () => (answers.shift() ?? (() => Promise.resolve([])))(),
    fail: failed.resolve,
  });
  return { component, failed: failed.promise, left: () => answers.length };
}

it('refuses the start with what the check found', async () => {
  const { component } = checkWith(() => Promise.resolve(['it is unsafe']));
  await expect(component.start()).rejects.toThrow(new ConfigError(['it is unsafe']));
  await component.stop();
});

it('lets the service start while the dependency does not answer, and stops it when a later check finds a problem', async () => {
  const { component, failed } = checkWith(
    () => Promise.reject(new Error('no answer')),
    () => Promise.resolve(['it is unsafe']),
  );
  await component.start();
  expect(await failed).toEqual(new ConfigError(['it is unsafe']));
  await component.stop();
});

it('stops while a check hangs', async () => {
  const { component } = checkWith(() => new Promise(() => {}));
  const starting = component.start();
  await component.stop();
  await starting;
});
