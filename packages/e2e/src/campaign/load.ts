import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import { fateOf, itemsOf, jobAfter, readersOf } from './plan.ts';
import { Random } from './random.ts';
import type { Reveal, User } from './user.ts';

export interface Pasted {
  readonly n: number;
  readonly code: string;
  /** Whether the api has answered a deletion. */
  readonly deleted: boolean;
}

export interface Import {
  readonly n: number;
  readonly id: string;
  /** How many pastes it had made when its cancel was answered. Undefined: it was not cancelled. */
  readonly madeBeforeCancel?: number | undefined;
}

/** A paste that is deleted when it is read. */
export interface Secret {
  readonly n: number;
  readonly code: string;
  /** What its readers have got. Empty: nobody has read it. */
  readonly reveals: readonly Reveal[];
}

const LANES = 6;
/** Until the cancel: some jobs are queued then, some run and some have ended. */
const MAX_CANCEL_DELAY_MS = 1000;
const POSTGRES_BACK_WITHIN_MS = 600_000;
/** Beyond the numbers of the other pastes, and a multiple of the number of apis. */
const FIRST_OF_BURSTS = 100_000_000;

/** Creates pastes 1 to `pastes`, and jobs among them, up to the number `allowed`, and keeps the outcomes. */
export class CampaignLoad {
  readonly pasted: Pasted[] = [];
  readonly imports: Import[] = [];
  /** The claims of reveals that Postgres has committed and whose answers reached no api. */
  lostAnswers = 0;
  allowed = 0;
  /** Resolves when the last paste is created, and every reader of one that is read once has an end. */
  readonly done: Promise<readonly Secret[]>;
  readonly #secrets: Promise<Secret>[] = [];
  readonly #cluster: Cluster;
  readonly #user: User;
  readonly #seed: number;
  #next = 0;
  #nextOfBurst = FIRST_OF_BURSTS;

  constructor(cluster: Cluster, user: User, { seed, pastes }: { seed: number; pastes: number }) {
    this.#cluster = cluster;
    this.#user = user;
    this.#seed = seed;
    const lane = async (): Promise<void> => {
      while (this.#next < pastes) {
        if (this.#next >= this.allowed) await sleep(20);
        else await this.#createAndMore((this.#next += 1));
      }
    };
    this.done = Promise.all(Array.from({ length: LANES }, lane)).then(() => Promise.all(this.#secrets));
  }

  get created(): number {
    return this.pasted.length + this.#secrets.length;
  }

  /** Creates `count` pastes that are deleted when they are read, and waits until they are stored. */
  async createSecrets(count: number): Promise<readonly Pick<Secret, 'n' | 'code'>[]> {
    const create = async (): Promise<Pick<Secret, 'n' | 'code'>> => {
      const n = (this.#nextOfBurst += this.#cluster.apis.length); // whose first request goes to the first api
      return { n, code: await this.#user.create(n, { burn: true, wait: true }) };
    };
    return await Promise.all(Array.from({ length: count }, create));
  }

  /** Lets readers read a paste once, beside the load. */
  readSecret({ n, code }: Pick<Secret, 'n' | 'code'>, readers: number): void {
    const readings = Array.from({ length: readers }, (_, reader) => this.#user.reveal(n, code, reader));
    this.#secrets.push(Promise.all(readings).then((reveals) => ({ n, code, reveals: reveals.flat() })));
  }

  async #createAndMore(n: number): Promise<void> {
    const fate = fateOf(n);
    const code = await this.#user.create(n, { burn: fate === 'read once' });
    if (fate === 'deleted') await this.#user.delete(n, code);
    if (fate === 'read once') this.readSecret({ n, code }, readersOf(n));
    else this.pasted.push({ n, code, deleted: fate === 'deleted' });
    const job = jobAfter(n);
    if (job === 'none') return;
    const id = await this.#user.createImport(n);
    const madeBeforeCancel = job === 'cancelled import' ? await this.#cancel(n, id) : undefined;
    this.imports.push({ n, id, madeBeforeCancel });
  }

  /** @returns how many pastes the job had made; undefined when it ended by itself before */
  async #cancel(n: number, id: string): Promise<number | undefined> {
    await sleep(new Random(this.#seed + n).between(0, MAX_CANCEL_DELAY_MS));
    if (!(await this.#user.cancel(n, id))) return undefined;
    const titles = itemsOf(this.#seed, n).map(({ title }) => title);
    const made = await this.#cluster.until(
      () => this.#cluster.rows.query('SELECT FROM pastes WHERE title = ANY ($1)', [titles]),
      () => true,
      { within: POSTGRES_BACK_WITHIN_MS },
    );
    return made.length;
  }
}
