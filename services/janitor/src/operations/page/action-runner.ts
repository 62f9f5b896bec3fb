import type { Logger, Metrics } from '@pasteflow/runtime';
import { Refused, type ActedBy, type Action } from '../actions/action.ts';
import { recordBegin, recordEnd } from '../actions/record.ts';
import type { Operations } from '../operations.ts';

interface RunningAction {
  /** Of the record. */
  readonly id: Promise<string>;
  readonly ended: Promise<void>;
}

/**
 * Does what an operator confirmed, in the background, because a sweep may take an hour. The same action on
 * the same subject runs once: who asks for it meanwhile is shown the one that runs.
 */
export class ActionRunner {
  readonly #operations: Operations;
  readonly #logger: Logger;
  readonly #running = new Map<string, RunningAction>();
  readonly #stopping = new AbortController();
  readonly #count;

  constructor(operations: Operations, logger: Logger, metrics: Metrics) {
    this.#operations = operations;
    this.#logger = logger;
    this.#count = metrics.counter({
      name: 'janitor_operator_actions_total',
      help: 'Actions of operators on the operations page, by action and outcome: done or failed.',
      labels: ['action', 'outcome'],
    });
  }

  /** @returns the id of the record */
  async start(action: Action, subject: string, by: ActedBy): Promise<string> {
    this.#stopping.signal.throwIfAborted();
    const { name } = action;
    const key = `${name} ${subject}`;
    const running = this.#running.get(key);
    if (running !== undefined) return await running.id;
    const id = recordBegin(this.#operations.db, { ...by, action: name, subject });
    const run = (begun: string) => this.#run(begun, action, subject, by);
    // An action that can't be recorded is not done, and the caller has the error.
    const ended = id.then(run, () => {}).finally(() => this.#running.delete(key));
    this.#running.set(key, { id, ended });
    return await id;
  }

  /** Ends what can end between two steps, and resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #run(id: string, action: Action, subject: string, by: ActedBy): Promise<void> {
    const { name } = action;
    const logger = this.#logger;
    const fields = { action: name, subject: subject === '' ? null : subject, actor: by.actor };
    try {
      await recordEnd(this.#operations.db, id, {
        run: async () => {
          const done = await action.do(this.#operations, subject, by, {
            signal: this.#stopping.signal,
            onProgress: () => {},
          });
          this.#count.inc({ action: name, outcome: 'done' });
          logger.info('operator acted', fields);
          return done;
        },
        outcomeOf: ({ outcome }) => outcome,
        onNotRecorded: (error) => logger.warn('outcome of an action not recorded', { ...fields, error }),
      });
    } catch (error) {
      this.#count.inc({ action: name, outcome: 'failed' });
      logger[error instanceof Refused ? 'warn' : 'error']('action of an operator failed', {
        ...fields,
        error,
      });
    }
  }
}
