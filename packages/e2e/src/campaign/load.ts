import { setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import type { PasteflowClient } from '@pasteflow/client';
import type { Cluster } from '../cluster.ts';
import { Random } from './random.ts';
import { isSecret, Secrets, type Secret } from './secrets.ts';

export interface Pasted {
  readonly n: number;
  readonly code: string;
  /** Whether the api has answered a deletion. */
  readonly deleted: boolean;
}

export interface CancelledJob {
  readonly id: string;
  /** How many pastes it had made when the cancel was answered. */
  readonly pastes: number;
}

/** Beyond the numbers of the other pastes, and a multiple of the number of apis. */
const FIRST_OF_BURSTS = 100_000_000;

const LANES = 6;
const JOB_ITEMS = 20;
/** Every tenth paste is deleted, a job is created with every fiftieth, and every other job is cancelled. */
const DELETE_EVERY = 10;
export const JOB_EVERY = 50;
const CANCEL_EVERY = 2 * JOB_EVERY;
/** Until the cancel: some jobs are queued then, some run and some have ended. */
const MAX_CANCEL_DELAY_MS = 1000;

/** Secrets among others: the api sends more than 256 KiB while it reads them from S3. */
const STREAMED_EVERY = 77;

/**
 * The bytes of a paste depend on the seed and its number: every fifth has 60 kB, too many for its message, so
 * that the worker reads the payload. The others have up to 2 kB, and some have 400 kB.
 */
export function contentOf(seed: number, n: number): Buffer {
  const random = new Random(seed * 1_000_003 + n);
  const size = n % STREAMED_EVERY === 0 ? 400_000 : n % 5 === 0 ? 60_000 : random.between(1, 2000);
  const block = createHash('sha512').update(`${seed} ${n}`).digest();
  return Buffer.alloc(size, block);
}

export const titleOf = (seed: number, n: number): string => `campaign ${seed} ${n}`;

export function itemsOf(seed: number, n: number): { title: string; content: string }[] {
  return Array.from({ length: JOB_ITEMS }, (_, item) => ({
    title: `campaign ${seed} ${n} item ${item}`,
    content: `item ${item} of job ${n} with seed ${seed}`,
  }));
}

/** Repeats a call until it succeeds: an Idempotency-Key makes it one creation. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch {
      await sleep(200);
    }
  }
}

/** Creates pastes 1 to `pastes`, and jobs among them, up to the number that `allowed` returns. */
export class CampaignLoad {
  readonly pasted: Pasted[] = [];
  readonly jobs: string[] = [];
  /** The number of each paste whose job the api has answered as cancelled. */
  readonly cancelled = new Map<number, CancelledJob>();
  readonly secrets: Secrets;
  allowed = 0;
  /** Resolves when the last paste is created and every reader of one that is read once has an end. */
  readonly done: Promise<unknown>;
  readonly #cluster: Cluster;
  readonly #options: { readonly seed: number; readonly user: (api: number) => PasteflowClient };
  #next = 0;
  #nextOfBurst = FIRST_OF_BURSTS;

  constructor(
    cluster: Cluster,
    user: (api: number) => PasteflowClient,
    { seed, pastes }: { seed: number; pastes: number },
  ) {
    this.#cluster = cluster;
    this.#options = { seed, user };
    this.secrets = new Secrets(cluster);
    const lane = async (): Promise<void> => {
      while (this.#next < pastes) {
        if (this.#next >= this.allowed) await sleep(20);
        else await this.#create(user((this.#next += 1) % cluster.apis.length), seed, this.#next);
      }
    };
    this.done = Promise.all(Array.from({ length: LANES }, lane)).then(() => this.secrets.all());
  }

  /** Creates `count` pastes that are deleted when they are read, and waits until they are stored. */
  async createSecrets(count: number): Promise<readonly Omit<Secret, 'reveals'>[]> {
    const { seed, user } = this.#options;
    const create = async (): Promise<Omit<Secret, 'reveals'>> => {
      const n = (this.#nextOfBurst += this.#cluster.apis.length); // whose first request goes to the first api
      const content = contentOf(seed, n);
      const { short_code: code } = await untilAnswered(() =>
        user(0).pastes.create(content, {
          title: titleOf(seed, n),
          burn: true,
          wait: true,
          idempotencyKey: `campaign-${seed}-${n}`,
        }),
      );
      return { n, code, content };
    };
    return await Promise.all(Array.from({ length: count }, create));
  }

  async #create(client: PasteflowClient, seed: number, n: number): Promise<void> {
    const deleted = n % DELETE_EVERY === 0;
    const burn = isSecret(n) && !deleted;
    const content = contentOf(seed, n);
    const options = { title: titleOf(seed, n), burn, idempotencyKey: `campaign-${seed}-${n}` };
    const { short_code: code } = await untilAnswered(() => client.pastes.create(content, options));
    if (deleted) await untilAnswered(() => deleteIfThere(client, code));
    if (burn) this.secrets.add(n, code, content);
    else this.pasted.push({ n, code, deleted });
    if (n % JOB_EVERY > 0) return;
    const job = { job_type: 'import' as const, parameters: { items: itemsOf(seed, n) } };
    const { job_id: id } = await untilAnswered(() =>
      client.jobs.create(job, { idempotencyKey: `campaign-job-${seed}-${n}` }),
    );
    if (n % CANCEL_EVERY === 0 && (await this.#cancel(client, seed, n, id))) return;
    this.jobs.push(id);
  }

  /** @returns false when the job ended by itself before */
  async #cancel(client: PasteflowClient, seed: number, n: number, id: string): Promise<boolean> {
    await sleep(new Random(seed + n).between(0, MAX_CANCEL_DELAY_MS));
    if (!(await untilAnswered(() => cancelUnlessEnded(client, id)))) return false;
    const made = await untilAnswered(() =>
      this.#cluster.rows.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM pastes WHERE title = ANY ($1)',
        [itemsOf(seed, n).map(({ title }) => title)],
      ),
    );
    this.cancelled.set(n, { id, pastes: made[0]?.count ?? 0 });
    return true;
  }
}

/** @returns false when the job has ended by itself */
async function cancelUnlessEnded(client: PasteflowClient, id: string): Promise<boolean> {
  try {
    await client.jobs.cancel(id);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'job_ended') return false;
    throw error;
  }
}

/** A deletion whose answer was lost has succeeded: the repetition finds no paste. */
async function deleteIfThere(client: PasteflowClient, code: string): Promise<void> {
  await client.pastes.delete(code).catch((error: unknown) => {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'paste_gone') throw error;
  });
}
