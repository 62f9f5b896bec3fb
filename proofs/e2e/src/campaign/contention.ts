import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster.ts';
import type { History } from './history.ts';
import type { User } from './user.ts';
import { Random } from './plan.ts';

const READERS = [0, 1, 2] as const;
/** Within which a reader and the deletion of a paste begin. */
const WITHIN_MS = 300;
/** Beyond the numbers of the other pastes. A creator takes a number each second while the slug is taken. */
const FIRST_OF_SLUGS = 500_000_000;
/** Of pastes that compete for the place of a newer version. */
const FIRST_OF_VERSIONS = 1_500_000_000;
const NUMBERS_OF_SLUG = 10_000;
const COMPETE_AGAIN_AFTER_MS = 1000;
const POSTGRES_BACK_WITHIN_MS = 600_000;

/**
 * Several clients, at both apis, that use one paste or one slug at the same time. The checker judges the
 * outcomes.
 */
export class Contention {
  readonly #cluster: Cluster;
  readonly #user: User;
  readonly #history: History;
  readonly #seed: number;

  constructor(cluster: Cluster, user: User, history: History, seed: number) {
    this.#cluster = cluster;
    this.#user = user;
    this.#history = history;
    this.#seed = seed;
  }

  /** Reads before, while and after `change`: before it at both apis, so that both may keep the content. */
  async readAround(n: number, name: string, change: () => Promise<unknown>): Promise<void> {
    await this.readAt(n, name, [0, 4]);
    await Promise.all([change(), this.#readInTurn(n, name, [1, 2, 3]), this.#readInTurn(n, name, [5, 6, 7])]);
    await this.readAt(n, name, [0, 4, 1, 5]);
  }

  /** @param turns of `readInTurn`, all at the same time */
  async readAt(n: number, name: string, turns: readonly number[]): Promise<void> {
    await Promise.all(turns.map((turn) => this.#user.readInTurn(n, turn, name)));
  }

  /**
   * Readers of a paste that is deleted when it is read, somebody who ends it before or after them, and then
   * all readers again.
   */
  async readOrEnd(n: number, code: string, end: () => Promise<void>): Promise<void> {
    const random = new Random(this.#seed + n);
    const delays = READERS.map(() => random.between(0, WITHIN_MS));
    await Promise.all([
      ...READERS.map((reader) => sleep(delays[reader]).then(() => this.#user.reveal(n, code, reader))),
      sleep(random.between(0, 4 * WITHIN_MS)).then(end),
      this.#readInTurn(n, code, [0, 4, 3]),
    ]);
    await Promise.all(READERS.map((reader) => this.#user.reveal(n, code, reader, () => true)));
    await this.readAt(n, code, [0, 4]);
  }

  /**
   * Three creators of a slug; two that move it to a newer paste; one creator more while that paste is deleted;
   * one more afterwards; and some while its tombstone is removed, and then another one.
   */
  async competeForSlug(n: number, slug: string): Promise<void> {
    const name = `~${slug}`;
    let next = FIRST_OF_SLUGS + n * NUMBERS_OF_SLUG;
    const create = async (): Promise<{ readonly n: number; readonly code: string } | undefined> => {
      const own = next++;
      const code = await this.#user.createNamed(own, slug);
      return code === undefined ? undefined : { n: own, code };
    };
    const [first, second, third] = await Promise.all([
      create(),
      create(),
      create(),
      this.readAt(n, name, [0, 4]),
    ]);
    const oldest = first ?? second ?? third;
    if (oldest === undefined) return;
    const version = async (): Promise<{ readonly n: number; readonly code: string }> => {
      const own = next++;
      return { n: own, code: await this.#user.createVersion(own, oldest.code) };
    };
    const newer = await Promise.all([version(), version()]);
    const [moved] = await Promise.all([
      Promise.all(newer.map(({ n: own, code }) => this.#user.moveSlug(own, slug, oldest.code, code))),
      create(),
      this.#readInTurn(oldest.n, name, [0, 1, 4, 5]),
    ]);
    const winner = newer[moved.indexOf(true)];
    if (winner === undefined) return;
    await this.readAround(winner.n, name, () =>
      Promise.all([this.#user.delete(winner.n, winner.code), create()]),
    );
    await create();
    let isRemoved = false;
    const contend = async (): Promise<void> => {
      while (!isRemoved && (await create()) === undefined) await sleep(COMPETE_AGAIN_AFTER_MS);
    };
    const remove = this.#removeTombstone(winner.code).finally(() => (isRemoved = true));
    await Promise.all([remove, contend(), contend()]);
    await create();
    await this.readAt(winner.n, name, [0, 4]);
    await this.readAt(winner.n, winner.code, [0, 4]);
  }

  /**
   * Three editors of a paste; two more while the newer version of the one that wins is deleted, and one afterwards:
   * of three deletions, each frees the place.
   */
  async competeForPlace(n: number): Promise<void> {
    let next = FIRST_OF_VERSIONS + n * NUMBERS_OF_SLUG;
    const older = await this.#user.create(next++, { wait: true });
    const edit = async (): Promise<{ readonly n: number; readonly code: string } | undefined> => {
      const own = next++;
      const code = await this.#user.supersede(own, older);
      return code === undefined ? undefined : { n: own, code };
    };
    let present = (await Promise.all([edit(), edit(), edit()])).find((each) => each !== undefined);
    for (let deletions = 0; deletions < 3; deletions += 1) {
      if (present === undefined) return;
      const { n: own, code } = present;
      const editors = await Promise.all([this.#user.delete(own, code), edit(), edit(), edit()]);
      present = editors.slice(1).find((each) => typeof each === 'object') ?? (await edit());
    }
  }

  async #readInTurn(n: number, name: string, turns: readonly number[]): Promise<void> {
    for (const turn of turns) await this.#user.readInTurn(n, turn, name);
  }

  /**
   * As if thirty days had passed: the next run of the sweep then removes the row, and frees the slug. A claim
   * that a fault has left behind ends as if two hours had passed.
   */
  async #removeTombstone(code: string): Promise<void> {
    const until = async (sql: string, found: number): Promise<void> => {
      await this.#cluster.until(
        () => this.#cluster.rows.query(sql, [code]),
        ({ length }) => length === found,
        { within: POSTGRES_BACK_WITHIN_MS },
      );
    };
    await until(
      `WITH left_behind AS (
         UPDATE pastes SET deletion_initiated_at = now() - interval '3 hours'
         WHERE short_code = $1 AND deletion_status = 'DELETION_IN_PROGRESS'
           AND deletion_initiated_at BETWEEN now() - interval '2 hours' AND now() - interval '20 seconds'
       )
       SELECT FROM pastes WHERE short_code = $1 AND deletion_status = 'DELETED'`,
      1,
    );
    await this.#history.record({ op: 'remove', code }, async () => {
      await until(`UPDATE pastes SET deleted_at = now() - interval '31 days' WHERE short_code = $1`, 0);
      await until('SELECT FROM pastes WHERE short_code = $1', 0);
    });
  }
}
