import { afterEach, expect, it } from '@jest/globals';
import { ConfigError, StartCheck } from '../src/index.ts';

const checks: StartCheck[] = [];
afterEach(() => Promise.all(checks.splice(0).map((check) => check.stop())));

function checkWith(...answers: (() => Promise<readonly string[]>)[]) {
  const failed = Promise.withResolvers<ConfigError>();
  const component = new StartCheck({
    name: 'settings',
    findProblems: () => (answers.shift() ?? (() => Promise.resolve([])))(),
    fail: failed.resolve,
  });
  checks.push(component);
  return { component, failed: failed.promise };
}

it('refuses the start with what the check found', async () => {
  const { component } = checkWith(() => Promise.resolve(['it is unsafe']));
  await expect(component.start()).rejects.toThrow(new ConfigError(['it is unsafe']));
  expect(() => component.requirePassed()).toThrow('the settings have not been checked yet');
});

it('is passed when the dependency answers at last, and not before', async () => {
  const { component } = checkWith(() => Promise.reject(new Error('no answer')));
  const starting = component.start();
  expect(() => component.requirePassed()).toThrow('the settings have not been checked yet');
  await starting;
  component.requirePassed();
});

it('lets the service start without having passed while the dependency does not answer, and stops it when a later check finds a problem', async () => {
  const late = Promise.withResolvers<readonly string[]>();
  const { component, failed } = checkWith(
    () => Promise.reject(new Error('no answer')),
    () => late.promise,
  );
  await component.start();
  expect(() => component.requirePassed()).toThrow('the settings have not been checked yet');
  late.resolve(['it is unsafe']);
  expect(await failed).toEqual(new ConfigError(['it is unsafe']));
  expect(() => component.requirePassed()).toThrow('the settings have not been checked yet');
});

it('stops while a check hangs', async () => {
  const { component } = checkWith(() => new Promise(() => {}));
  const starting = component.start();
  await component.stop();
  await starting;
});
