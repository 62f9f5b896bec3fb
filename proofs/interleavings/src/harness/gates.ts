import { sql, type ControlledTransaction } from 'kysely';
import type { Database, Schema } from '@pasteflow/postgres';
import type { LockPoint, World } from './operation.ts';
import { readPid } from './session.ts';

/**
 * A session for each lock point that holds its row locked, until the schedule lets the first waiter through.
 */
export class Gates {
  readonly #sessions: readonly Database[];
  readonly #closed = new Map<number, ControlledTransaction<Schema>>();

  constructor(sessions: readonly Database[]) {
    this.#sessions = sessions;
  }

  async close(world: World, lockPoints: readonly LockPoint[]): Promise<void> {
    const close = async (lockPoint: LockPoint, db: Database): Promise<void> => {
      const transaction = await db.startTransaction().execute();
      this.#closed.set(await readPid(transaction), transaction);
      await sql.raw(`${world.lockPoints[lockPoint]} FOR UPDATE`).execute(transaction);
    };
    await Promise.all(lockPoints.map((lockPoint, index) => close(lockPoint, this.#sessions[index]!)));
  }

  has(pid: number): boolean {
    return this.#closed.has(pid);
  }

  async open(pid: number): Promise<void> {
    const transaction = this.#closed.get(pid);
    this.#closed.delete(pid);
    await transaction?.rollback().execute();
  }

  async openAll(): Promise<void> {
    await Promise.all([...this.#closed.keys()].map((pid) => this.open(pid)));
  }
}
