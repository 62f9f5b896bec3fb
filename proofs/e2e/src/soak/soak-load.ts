import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PasteflowApiError } from '@pasteflow/client';
import type { User } from '../cluster.ts';

/** In seconds: the shortest that the api accepts. */
export const EXPIRES_IN = 60;

/** So many at the same time: on a slow machine the rate is lower, instead of a backlog that grows. */
const LANES = 16;

/**
 * Creates pastes at a steady rate, reads each when it is stored, and deletes every second one; the others
 * expire. Every twentieth is followed by an import, and every two hundredth by an export.
 */
export class SoakLoad {
  /** What was lost. */
  readonly problems: string[] = [];
  done = 0;
  /** What a busy machine answered too late, or not at all. */
  unanswered = 0;
  readonly #startedAt = performance.now();
  readonly #user: User;
  readonly #running = new Set<Promise<void>>();
  #stopping = false;
  readonly #started: Promise<void>;

  constructor(user: User, perSecond: number) {
    this.#user = user;
    this.#started = this.#start(perSecond);
  }

  /** The pastes of a minute, as many as the machine has managed. */
  get perMinute(): number {
    return (this.done * 60_000) / (performance.now() - this.#startedAt);
  }

  /** Resolves when everything that was begun has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#started;
    await Promise.all(this.#running);
  }

  async #start(perSecond: number): Promise<void> {
    for (let n = 1; !this.#stopping; n += 1) {
      const next = sleep(1000 / perSecond);
      const run = this.#try(n).finally(() => this.#running.delete(run));
      this.#running.add(run);
      await next;
      if (this.#running.size >= LANES) await Promise.race(this.#running);
    }
  }

  async #try(n: number): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#act(n);
      this.done += 1;
    } catch (error) {
      const isOver = performance.now() - startedAt > EXPIRES_IN * 1000;
      const wasLost = error instanceof PasteflowApiError && error.status < 500 && !isOver;
      if (wasLost) this.problems.push(`paste ${n}: ${error.message}`);
      else this.unanswered += 1;
    }
  }

  async #act(n: number): Promise<void> {
    const { pastes } = this.#user;
    const content = contentOf(n);
    const { short_code: code } = await pastes.create(content, {
      expires_in: EXPIRES_IN,
      title: `paste ${n}`,
    });
    const read = await (await pastes.content(code)).bytes();
    if (!content.equals(read))
      this.problems.push(`paste ${n}, ${code}, was read as ${read.length} other bytes`);
    if (n % 2 === 0) await pastes.delete(code);
    if (n % 20 === 0) {
      const items = [1, 2, 3].map((item) => ({ content: `item ${item} of ${n}`, expires_in: EXPIRES_IN }));
      await this.#run({ job_type: 'import', parameters: { items } });
    }
    if (n % 200 === 0) await this.#run({ job_type: 'export', parameters: {} });
  }

  async #run(job: Parameters<User['jobs']['create']>[0]): Promise<void> {
    const { job_id: id } = await this.#user.jobs.create(job);
    const { status, error_message: why } = await this.#user.jobs.wait(id);
    if (status !== 'completed') this.problems.push(`job ${id}, ${job.job_type}, is ${status}: ${why}`);
  }
}

/** Most are sent within their messages; every tenth is not, and each fiftieth is streamed when it is read. */
function contentOf(n: number): Buffer {
  const bytes = n % 50 === 0 ? 300_000 : n % 10 === 0 ? 60_000 : 2000;
  return Buffer.alloc(bytes, createHash('sha512').update(`soak ${n}`).digest());
}
