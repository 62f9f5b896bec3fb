import type { Component } from './lifecycle/component.ts';
import type { LogFields, Logger } from './logging/logger.ts';
import { PollLoop } from './poll-loop.ts';

const ONE_DAY_MS = 86_400_000;

export interface DailyWarning {
  readonly name: string;
  readonly message: string;
  /**
   * The fields of the warning; null: nothing to warn of. A failure is not reported: the next try follows
   * soon.
   */
  readonly find: () => Promise<LogFields | null>;
  readonly logger: Logger;
}

/**
 * Looks at the start and once a day for something that an operator should change. Neither the start nor the
 * stop of the service waits for it.
 */
export function warnDaily({ name, message, find, logger }: DailyWarning): Component {
  return new PollLoop({
    name,
    intervalMs: ONE_DAY_MS,
    run: async (signal) => {
      const fields = await Promise.race([find(), nullWhenAborted(signal)]);
      if (fields !== null) logger.warn(message, fields);
    },
    onError: () => {},
  });
}

function nullWhenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}
