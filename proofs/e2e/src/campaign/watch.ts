import { setTimeout as sleep } from 'node:timers/promises';
import type { Rows } from '../rows.ts';

/**
 * What is true in every snapshot, also during a fault: the content of open work is in Postgres, and some
 * process will go on with the work.
 */
const ALWAYS = `
  SELECT 'paste ' || short_code || ' was IN_PROGRESS without a payload' AS problem FROM pastes p
  WHERE status = 'IN_PROGRESS' AND NOT EXISTS (SELECT FROM paste_payloads y WHERE y.paste_id = p.id)
  UNION ALL
  SELECT 'paste ' || short_code || ' was IN_PROGRESS without an open execution' FROM pastes p
  WHERE status = 'IN_PROGRESS' AND NOT EXISTS (
    SELECT FROM task_executions e WHERE e.subject_id = p.id AND e.kind = 'upload' AND e.status IN ('PENDING', 'RUNNING'))
  UNION ALL
  SELECT 'job ' || id || ' was ' || status || ' without an open execution' FROM jobs j
  WHERE completed_at IS NULL AND NOT EXISTS (
    SELECT FROM task_executions e WHERE e.subject_id = j.id AND e.kind = 'job' AND e.status IN ('PENDING', 'RUNNING'))
  LIMIT 20`;

/** A scan of 100,000 pastes takes some tens of ms. */
const INTERVAL_MS = 250;

/**
 * Looks at the tables again and again while the campaign runs. At its end everything may look right, because
 * retries repair what went wrong.
 */
export class Watch {
  readonly #problems = new Set<string>();
  readonly #running: Promise<void>;
  #isOver = false;
  #looks = 0;

  constructor(rows: Rows) {
    this.#running = this.#lookRepeatedly(rows);
  }

  /** @returns one sentence for each violation that was seen */
  async stop(): Promise<string[]> {
    this.#isOver = true;
    await this.#running;
    return this.#looks === 0 ? ['nobody has seen the tables while the faults lasted'] : [...this.#problems];
  }

  async #lookRepeatedly(rows: Rows): Promise<void> {
    while (!this.#isOver) {
      const found = await rows.query<{ problem: string }>(ALWAYS).catch(() => null); // Postgres is down by intention
      if (found !== null) this.#looks += 1;
      for (const { problem } of found ?? []) this.#problems.add(problem);
      await sleep(INTERVAL_MS);
    }
  }
}
