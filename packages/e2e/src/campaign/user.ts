import { setTimeout as sleep } from 'node:timers/promises';
import { PasteflowApiError, type PasteflowClient } from '@pasteflow/client';
import type { Cluster } from '../cluster.ts';
import type { ReadContent } from '../http.ts';
import { contentOf, itemsOf, titleOf } from './plan.ts';

/**
 * What one request for a paste that is deleted when it is read has shown.
 * - `content`: the whole content
 * - `gone`: 410, for everybody but the one reader
 * - `again`: the answer broke off, or says that the reader may try again. The paste may be claimed for this
 * reader
 * - `wrong`: what must never happen
 */
export type Reveal =
  | { readonly kind: 'content' | 'gone' | 'again' }
  | { readonly kind: 'wrong'; readonly answer: string };

const TRY_AGAIN_AFTER_MS = 200;
/** A frozen process answers after 12 s. */
const ANSWER_WITHIN_MS = 120_000;

/**
 * Performs every operation of a campaign on pastes and jobs, and learns its outcome. A request without an
 * answer may have been executed: it is repeated until an answer comes, which its Idempotency-Key makes one
 * operation. The number of a paste says at which api the operation begins.
 */
export class User {
  readonly #cluster: Cluster;
  readonly #clients: readonly PasteflowClient[];
  readonly #seed: number;

  constructor(cluster: Cluster, token: string, seed: number) {
    this.#cluster = cluster;
    this.#clients = cluster.apis.map((_, api) => cluster.client({ api, token }));
    this.#seed = seed;
  }

  /** @returns the short code */
  async create(
    n: number,
    options: { readonly burn?: boolean; readonly wait?: boolean } = {},
  ): Promise<string> {
    const { short_code: code } = await this.#untilAnswered(n, (client) =>
      client.pastes.create(contentOf(this.#seed, n), {
        ...options,
        title: titleOf(this.#seed, n),
        idempotencyKey: `campaign-${this.#seed}-${n}`,
      }),
    );
    return code;
  }

  async delete(n: number, code: string): Promise<void> {
    await this.#untilAnswered(n, (client) =>
      // A deletion whose answer was lost has succeeded: the repetition finds no paste.
      client.pastes.delete(code).catch(unlessCode('paste_gone')),
    );
  }

  /** @returns the id of the job */
  async createImport(n: number): Promise<string> {
    const { job_id: id } = await this.#untilAnswered(n, (client) =>
      client.jobs.create(
        { job_type: 'import', parameters: { items: itemsOf(this.#seed, n) } },
        { idempotencyKey: `campaign-job-${this.#seed}-${n}` },
      ),
    );
    return id;
  }

  /** @returns false when the job had ended by itself */
  async cancel(n: number, id: string): Promise<boolean> {
    const job = await this.#untilAnswered(n, (client) =>
      client.jobs.cancel(id).catch(unlessCode('job_ended')),
    );
    return job !== undefined;
  }

  /** One request for the content, by the short URL. */
  async read(n: number, code: string): Promise<ReadContent> {
    return await this.#cluster.http(n % this.#clients.length).read(code);
  }

  /**
   * Repeats a reader's request for a paste that is deleted when it is read until the reader or another one has
   * the content, and `maxTries` times at most. @returns the meaning of each answer, the last one last
   */
  async reveal(n: number, code: string, reader: number, maxTries = Infinity): Promise<readonly Reveal[]> {
    const reveals: Reveal[] = [];
    for (;;) {
      const reveal = await this.#revealOnce(n + reader + reveals.length, { n, code, reader });
      reveals.push(reveal);
      if (reveal.kind !== 'again' || reveals.length === maxTries) return reveals;
      await sleep(TRY_AGAIN_AFTER_MS);
    }
  }

  async #revealOnce(
    api: number,
    { n, code, reader }: { n: number; code: string; reader: number },
  ): Promise<Reveal> {
    try {
      const answer = await this.#cluster
        .http(api % this.#clients.length)
        .request(`/v1/pastes/${code}/reveal`, {
          method: 'POST',
          headers: { 'idempotency-key': `reader ${reader} of paste ${n}` },
          signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
        });
      const body = Buffer.from(await answer.arrayBuffer());
      if (answer.status === 200 && body.equals(contentOf(this.#seed, n))) return { kind: 'content' };
      if (answer.status === 410) return { kind: 'gone' };
      if ([429, 503].includes(answer.status)) return { kind: 'again' };
      return { kind: 'wrong', answer: `${answer.status} with ${body.length} bytes` };
    } catch {
      return { kind: 'again' };
    }
  }

  async #untilAnswered<T>(n: number, call: (client: PasteflowClient) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await call(this.#clients[(n + tries) % this.#clients.length] as PasteflowClient);
      } catch {
        await sleep(TRY_AGAIN_AFTER_MS);
      }
    }
  }
}

function unlessCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof PasteflowApiError) || error.code !== code) throw error;
  };
}
