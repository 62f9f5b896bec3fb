import { beginOperatorAction, endOperatorAction, type Database } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import type { ActedBy, Action } from './action.ts';

export interface ActionRunnerOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface Running {
  /** Of the row in operator_actions. */
  readonly id: Promise<string>;
  readonly ended: Promise<void>;
}

/**
 * Does what an operator confirmed, in the background, because a sweep may take an hour. Each action is recorded before it begins and when it
 * has ended. The same action on the same subject runs once: who asks for it meanwhile is shown the one that runs.
 */
export class ActionRunner {
  readonly #options: ActionRunnerOptions;
  readonly #running = new Map<string, Running>();
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

  /** @returns the id under which the action is recorded */
  async start(name: string, action: Action, subject: string | null, by: ActedBy): Promise<string> {
    this.#stopping.signal.throwIfAborted();
    const key = `${name} ${subject ?? ''}`;
    const running = this.#running.get(key);
    if (running !== undefined) return await running.id;
    const id = beginOperatorAction(this.#options.db, {
      actor: by.actor,
      action: name,
      subject,
      reason: by.reason,
    });
    const ended = this.#run(name, action, subject, by, id).finally(() => this.#running.delete(key));
    this.#running.set(key, { id, ended });
    return await id;
  }

  /** Ends what can end between two steps, and resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #run(
    name: string,
    action: Action,
    subject: string | null,
    by: ActedBy,
    begun: Promise<string>,
  ): Promise<void> {
    let id: string;
    try {
      id = await begun;
    } catch {
      return; // nothing was done, and the caller of start() has the error
    }
    const { db, logger } = this.#options;
    const fields = { action: name, subject, actor: by.actor };
    let outcome: string;
    try {
      outcome = await action.run(subject, by, this.#stopping.signal);
      this.#count.inc({ action: name, outcome: 'done' });
      logger.info('operator acted', fields);
    } catch (error) {
      outcome = `Failed: ${Error.isError(error) ? error.message : String(error)}`;
      this.#count.inc({ action: name, outcome: 'failed' });
      logger.error('action of an operator failed', { ...fields, error });
    }
    await endOperatorAction(db, id, outcome).catch((error: unknown) => {
      logger.warn('outcome of an action not recorded', { ...fields, error });
    });
  }
}
