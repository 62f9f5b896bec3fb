import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import type { Contention } from './contention.ts';
import type { Deposits } from './deposits.ts';
import type { History } from './history.ts';
import {
  clientsOf,
  type Fate,
  fateOf,
  isEditedAfter,
  itemsOf,
  jobAfter,
  Random,
  readersOf,
  slugAfter,
} from './plan.ts';
import type { Reveal, User } from './user.ts';

export interface Pasted {
  readonly n: number;
  readonly code: string;
  /** Whether the api or the operator has answered that the paste is gone. */
  readonly fate: 'kept' | 'deleted' | 'taken down';
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

export interface LoadOptions {
  readonly contention: Contention;
  readonly deposits: Deposits;
  readonly history: History;
  readonly seed: number;
  readonly pastes: number;
  /** For secrets, among the pastes. */
  readonly requests: number;
  readonly quietWithinSeconds: number;
}

const LANES = 6;
/** Until the cancel: some jobs are queued then, some run and some have ended. */
const MAX_CANCEL_DELAY_MS = 1000;
const POSTGRES_BACK_WITHIN_MS = 600_000;
/** Beyond the numbers of the other pastes, and a multiple of the number of apis. */
const FIRST_OF_BURSTS = 100_000_000;
/** Of pastes that are created without an Idempotency-Key. */
const FIRST_WITHOUT_KEY = 400_000_000;
const EXPIRES_IN_SECONDS = 60;
/** Reads of a paste that expires: one in this time, from shortly before the expiry on. */
const READ_AGAIN_AFTER_MS = 1000;

/** Creates pastes 1 to `pastes`, and jobs among them, up to the number `allowed`, and keeps the outcomes. */
export class CampaignLoad {
  readonly pasted: Pasted[] = [];
  readonly imports: Import[] = [];
  /** Numbers of pastes that were created with an Idempotency-Key. */
  readonly keyed: number[] = [];
  /** Short codes and slugs that are read once more at the end, and whose answers only the checker judges. */
  readonly names: { readonly n: number; readonly name: string }[] = [];
  /** The claims of reveals that Postgres has committed and whose answers reached no api. */
  lostAnswers = 0;
  allowed = 0;
  /** As by `performance.now()`. */
  faultsEndedAt = Infinity;
  /** Resolves when the last paste is created, and every reader of one that is read once has an end. */
  readonly done: Promise<readonly Secret[]>;
  readonly #secrets: Promise<Secret>[] = [];
  readonly #background: Promise<void>[] = [];
  readonly #cluster: Cluster;
  readonly #user: User;
  readonly #history: History;
  readonly #contention: Contention;
  readonly #deposits: Deposits;
  readonly #seed: number;
  readonly #pastes: number;
  readonly #pastesOfRequest: number;
  readonly #quietWithinMs: number;
  #next = 0;
  #nextOfBurst = FIRST_OF_BURSTS;

  constructor(
    cluster: Cluster,
    user: User,
    { contention, deposits, history, seed, pastes, requests, quietWithinSeconds }: LoadOptions,
  ) {
    this.#cluster = cluster;
    this.#user = user;
    this.#history = history;
    this.#contention = contention;
    this.#deposits = deposits;
    this.#seed = seed;
    this.#pastes = pastes;
    this.#pastesOfRequest = Math.max(1, Math.floor(pastes / requests));
    this.#quietWithinMs = quietWithinSeconds * 1000;
    const lane = async (): Promise<void> => {
      while (this.#next < pastes) {
        if (this.#next >= this.allowed) await sleep(20);
        else await this.#createAndMore((this.#next += 1));
      }
    };
    this.done = Promise.all(Array.from({ length: LANES }, lane))
      .then(() => Promise.all(this.#background))
      .then(() => Promise.all(this.#secrets));
  }

  get begun(): number {
    return this.#next;
  }

  get created(): number {
    return this.keyed.length;
  }

  /** Creates `count` pastes that are deleted when they are read, and waits until they are stored. */
  async createSecrets(count: number): Promise<readonly Pick<Secret, 'n' | 'code'>[]> {
    const create = async (): Promise<Pick<Secret, 'n' | 'code'>> => {
      const { length: apis } = this.#cluster.apis;
      const n = (this.#nextOfBurst += apis - (this.#nextOfBurst % apis)); // the first request goes to the first api
      return { n, code: await this.#user.create(n, { burn: true, wait: true }) };
    };
    return await Promise.all(Array.from({ length: count }, create));
  }

  /** Creates `count` pastes beside the load. */
  createBeside(count: number): void {
    for (let created = 0; created < count; created += 1) {
      const n = (this.#nextOfBurst += 1);
      this.keyed.push(n);
      this.#beside(this.#user.create(n).then((code) => void this.pasted.push({ n, code, fate: 'kept' })));
    }
  }

  /** Asks for secrets. @returns what lets some depositors begin, beside the load */
  async ask(): Promise<(depositors: number) => void> {
    const n = (this.#nextOfBurst += 1);
    const ask = await this.#deposits.ask(n);
    return (depositors) => this.#beside(this.#deposits.depositMany(n, ask, depositors));
  }

  /**
   * Lets readers read a paste once, beside the load. When its content is lost, they give up as long after the
   * faults as work may take: the end of the campaign then names the loss.
   */
  readSecret({ n, code }: Pick<Secret, 'n' | 'code'>, readers: number): void {
    const startedAt = performance.now();
    const givesUp = () => performance.now() - Math.max(startedAt, this.faultsEndedAt) > this.#quietWithinMs;
    const readings = Array.from({ length: readers }, (_, reader) =>
      this.#user.reveal(n, code, reader, givesUp),
    );
    this.#secrets.push(Promise.all(readings).then((reveals) => ({ n, code, reveals: reveals.flat() })));
  }

  async #createAndMore(n: number): Promise<void> {
    const fate = fateOf(n);
    const code = await this.#user.create(n, {
      times: clientsOf(n),
      wait: fate === 'taken down' || (fate === 'deleted' && n % 20 === 0), // the other half is deleted early
      ...(fate.startsWith('read') && { burn: true }),
      ...(fate === 'expired' && { expires_in: EXPIRES_IN_SECONDS }),
    });
    this.keyed.push(n);
    await this.#meet(fate, n, code);
    if (n % 8 === 5) await this.#createWithoutKey(FIRST_WITHOUT_KEY + n);
    const slug = slugAfter(this.#seed, n);
    if (slug !== undefined) this.#beside(this.#contention.competeForSlug(n, slug), n, `~${slug}`);
    if (isEditedAfter(n)) this.#beside(this.#contention.competeForPlace(n));
    if (n % this.#pastesOfRequest === 0)
      this.#beside(this.#deposits.compete(n, { expires: n <= this.#pastes / 8 }));
    const job = jobAfter(n);
    if (job === 'none') return;
    const id = await this.#user.createImport(n);
    this.#beside(this.#user.watch(n, id));
    const madeBeforeCancel = job === 'cancelled import' ? await this.#cancel(n, id) : undefined;
    this.imports.push({ n, id, madeBeforeCancel });
  }

  async #meet(fate: Fate, n: number, code: string): Promise<void> {
    const contention = this.#contention;
    switch (fate) {
      case 'kept':
        if (n % 4 === 0) await contention.readAt(n, code, [0, 4, 1]);
        if (n % 4 === 1) await contention.readAround(n, code, () => this.#changeTwice(n, code));
        break;
      case 'deleted':
        await contention.readAround(n, code, () =>
          Promise.all([
            this.#user.delete(n, code),
            this.#user.delete(n + 1, code),
            this.#changeTwice(n, code),
          ]),
        );
        break;
      case 'taken down':
        await contention.readAround(n, code, () => this.#user.takeDown(n, code));
        break;
      case 'expired':
        await contention.readAt(n, code, [0, 4]);
        this.#beside(this.#readAsItExpires(n, code), n, code);
        return;
      case 'read or deleted':
      case 'read or taken down': {
        const end = () => this.#user[fate === 'read or deleted' ? 'delete' : 'takeDown'](n, code);
        this.#beside(contention.readOrEnd(n, code, end), n, code);
        return;
      }
      case 'read once':
        this.readSecret({ n, code }, readersOf(n));
        return;
      default:
        fate satisfies never;
    }
    this.pasted.push({ n, code, fate });
  }

  /** Two changes at the same time: of the title, the later one stays. */
  async #changeTwice(n: number, code: string): Promise<void> {
    const change = (nth: number) => this.#user.change(n + nth, code, `changed ${this.#seed} ${n} ${nth}`);
    await Promise.all([change(0), change(1)]);
  }

  /** Beside the load, and until its end. */
  #beside(work: Promise<void>, n?: number, name?: string): void {
    work.catch(() => {}); // it fails the campaign when the load ends
    this.#background.push(work);
    if (n !== undefined && name !== undefined) this.names.push({ n, name });
  }

  /** In the first fifth of the load, which lasts for a minute and a half at least: the campaign does not wait for it. */
  async #readAsItExpires(n: number, code: string): Promise<void> {
    if (n > this.#pastes / 5) return;
    await sleep((EXPIRES_IN_SECONDS - 3) * 1000);
    for (const turn of [0, 1, 2, 3, 4, 5]) {
      await this.#user.readInTurn(n, turn, code);
      await sleep(READ_AGAIN_AFTER_MS);
    }
  }

  async #createWithoutKey(n: number): Promise<void> {
    const code = await this.#user.createOnce(n);
    if (code === undefined) return;
    await this.#contention.readAt(n, code, [0, 4]);
    this.names.push({ n, name: code });
  }

  /** @returns how many pastes the job had made; undefined when it ended by itself before */
  async #cancel(n: number, id: string): Promise<number | undefined> {
    await sleep(new Random(this.#seed + n).between(0, MAX_CANCEL_DELAY_MS));
    const [isCancelled] = await Promise.all([this.#user.cancel(n, id), this.#user.cancel(n + 1, id)]);
    if (!isCancelled) return undefined;
    const titles = itemsOf(this.#seed, n).map(({ title }) => title);
    const { count } = await this.#history.record({ op: 'made', job: id }, async () => {
      const made = await this.#cluster.until(
        () => this.#cluster.rows.query('SELECT FROM pastes WHERE title = ANY ($1)', [titles]),
        () => true,
        { within: POSTGRES_BACK_WITHIN_MS },
      );
      return { count: made.length };
    });
    return count;
  }
}
