import { sql, type Selectable } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import type { OperatorActionsTable } from '../schema/operations.ts';

export type OperatorAction = Selectable<OperatorActionsTable>;

interface NewOperatorAction {
  readonly actor: Actor;
  readonly action: string;
  /** null: the action has none. */
  readonly subject: string | null;
  /** In the words of the operator. Not empty. */
  readonly reason: string;
}

/** Records what an operator is about to do. @returns the id, for `endOperatorAction` */
export async function beginOperatorAction(db: Database, action: NewOperatorAction): Promise<string> {
  const { id } = await db
    .insertInto('operator_actions')
    .values(action)
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Records how the action ended, in words. */
export async function endOperatorAction(db: Database, id: string, outcome: string): Promise<void> {
  await sql`UPDATE operator_actions SET outcome = ${outcome} WHERE id = ${id}`.execute(db);
}

/** The newest actions first. */
export async function listOperatorActions(db: Database, limit: number): Promise<readonly OperatorAction[]> {
  return await db.selectFrom('operator_actions').selectAll().orderBy('id', 'desc').limit(limit).execute();
}

export async function findOperatorAction(db: Database, id: string): Promise<OperatorAction | null> {
  const found = await db.selectFrom('operator_actions').selectAll().where('id', '=', id).executeTakeFirst();
  return found ?? null;
}
