import { sql, type Selectable } from 'kysely';
import type { Database } from './database/database.ts';
import type { Actor } from './database/actor.ts';
import type { OperatorActionsTable } from './schema/operations.ts';

export interface Installation {
  /** The identity of the database. A dump and a restore keep it. */
  readonly id: string;
  readonly createdAt: Date;
  /** The current time by the clock of the database. */
  readonly now: Date;
}

/** @throws DependencyUnavailableError when Postgres doesn't answer */
export async function readInstallation(db: Database): Promise<Installation> {
  const { rows } = await sql<Installation>`
    SELECT id, created_at AS "createdAt", now() FROM installation`.execute(db);
  const [row] = rows;
  if (row === undefined)
    throw new Error('The table installation is empty. Migrate a new database, or restore the row.');
  return row;
}

export interface BucketAdoption {
  readonly bucket: string;
  readonly previousOwner: string | null;
  readonly adoptedBy: string;
  readonly objectsFound: number;
  readonly objectsKnown: number;
}

/** Records that an operator gave the bucket to this database. */
export async function recordBucketAdoption(db: Database, adoption: BucketAdoption): Promise<void> {
  const { bucket, previousOwner, adoptedBy, objectsFound, objectsKnown } = adoption;
  await sql`
    INSERT INTO bucket_adoptions (bucket, previous_owner, adopted_by, objects_found, objects_known)
    VALUES (${bucket}, ${previousOwner}, ${adoptedBy}, ${objectsFound}, ${objectsKnown})`.execute(db);
}

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
