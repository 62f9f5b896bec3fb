import type { Database } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import { Refused, type ActedBy, type Action } from '../actions/action.ts';
import { recordBegin, recordEnd } from '../actions/record.ts';

export interface ActionRunnerOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

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
  readonly #options: ActionRunnerOptions;
  readonly #running = new Map<string, RunningAction>();
  readonly #stopping = new AbortController();
  readonly #count;

  constructor(options: ActionRunnerOptions) {
    this.#options = options;
    this.#count = options.metrics.counter({
      name: 'janitor_operator_actions_total',
      help: 'Actions of operators on the operations page, by action and outcome: done or failed.',
      labels: ['action', 'outcome'],
    });
  }

  /** @returns the id of the record */
  async start(name: string, action: Action, subject: string, by: ActedBy): Promise<string> {
    this.#stopping.signal.throwIfAborted();
    const key = `${name} ${subject}`;
    const running = this.#running.get(key);
    if (running !== undefined) return await running.id;
    const id = recordBegin(this.#options.db, { ...by, action: name, subject });
    const run = (begun: string) => this.#run(begun, name, action, subject, by);
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

  async #run(id: string, name: string, action: Action, subject: string, by: ActedBy): Promise<void> {
    const { db, logger } = this.#options;
    const fields = { action: name, subject: subject === '' ? null : subject, actor: by.actor };
    try {
      await recordEnd(db, id, {
        run: async () => {
          const done = await action.do(subject, by, { signal: this.#stopping.signal, onProgress: () => {} });
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
