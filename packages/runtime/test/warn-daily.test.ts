import { expect, it } from '@jest/globals';
import { warnDaily, type LogFields, type Logger } from '../src/index.ts';

function recorder(): { readonly warnings: unknown[]; readonly logger: Logger } {
  const warnings: unknown[] = [];
  const logger: Logger = {
    error: () => {},
    warn: (message, fields) => warnings.push([message, fields]),
    info: () => {},
    debug: () => {},
    child: () => logger,
  };
  return { warnings, logger };
}

it('warns with what the check found, after a check that failed', async () => {
  const { warnings, logger } = recorder();
  const answers: (() => Promise<LogFields | null>)[] = [
    () => Promise.reject(new Error('no answer')),
    () => Promise.resolve({ user: 'somebody' }),
  ];
  const component = warnDaily({
    name: 'check',
    message: 'change this',
    find: () => (answers.shift() ?? (() => Promise.resolve(null)))(),
    logger,
  });
  await component.start();
  const deadline = performance.now() + 60_000;
  while (warnings.length === 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await component.stop();
  expect(warnings).toEqual([['change this', { user: 'somebody' }]]);
});

it('does not warn when there is nothing to find, and stops while a check hangs', async () => {
  const { warnings, logger } = recorder();
  const started = Promise.withResolvers<void>();
  const component = warnDaily({
    name: 'check',
    message: 'change this',
    find: () => {
      started.resolve();
      return new Promise(() => {});
    },
    logger,
  });
  await component.start();
  await started.promise;
  await component.stop();
  expect(warnings).toEqual([]);
});
