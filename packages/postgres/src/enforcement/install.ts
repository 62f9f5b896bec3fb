import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { machines, type Machine } from '@pasteflow/domain';
import { isLockTimeout } from '../database/errors.ts';
import type { Schema } from '../schema/schema.ts';
import {
  guardTrigger,
  recorderTrigger,
  stateCheck,
  type CheckConstraint,
  type StateTrigger,
} from './machine-sql.ts';

/**
 * Changing triggers needs an exclusive lock on each table for a moment, and no order of locking is safe: a
 * creation writes pastes before executions, a settlement executions before pastes. The installation gives up
 * before Postgres checks for deadlocks (after 1 s) and tries again, so that a deploy never fails a statement
 * of a service.
 */
const LOCK_TIMEOUT_MS = 300;
const MAX_TRIES = 50;

/**
 * An autovacuum is canceled only by a session that waits longer than that second. The first lock conflicts
 * with no writer: waiting for it cancels the autovacuum, and holding it prevents the next one.
 */
const VACUUM_TIMEOUT_MS = 30_000;

/**
 * Installs the CHECKs and triggers that enforce the tables of packages/domain. Runs after each migration.
 * What is already current is not changed and not locked.
 */
export async function installStateMachines(
  db: Kysely<Schema>,
  all: readonly Machine[] = machines,
): Promise<void> {
  const tables = [...new Set(all.map((machine) => machine.storedIn.table))];
  const checks = all.map(stateCheck);
  const triggers = [
    ...all.map(guardTrigger),
    ...tables.map((table) =>
      recorderTrigger(
        table,
        all.filter((machine) => machine.storedIn.table === table),
      ),
    ),
  ];
  for (let tries = 1; ; tries++) {
    try {
      return await install(db, checks, triggers);
    } catch (error) {
      if (!isLockTimeout(error) || tries === MAX_TRIES) throw error;
      await wait(LOCK_TIMEOUT_MS * Math.random());
    }
  }
}

async function install(
  db: Kysely<Schema>,
  checks: readonly CheckConstraint[],
  triggers: readonly StateTrigger[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.enforcement'))`.execute(tx);
    const missingChecks = await findMissing(checks, (check) => isCheckInstalled(tx, check));
    const missingTriggers = await findMissing(triggers, (trigger) => isTriggerInstalled(tx, trigger));
    const tables = new Set([...missingChecks, ...missingTriggers].map(({ table }) => table));
    await setLockTimeout(tx, VACUUM_TIMEOUT_MS);
    for (const table of [...tables].toSorted())
      await sql`LOCK TABLE ${sql.id(table)} IN SHARE UPDATE EXCLUSIVE MODE`.execute(tx);
    await setLockTimeout(tx, LOCK_TIMEOUT_MS);
    for (const check of missingChecks) await installCheck(tx, check);
    for (const trigger of missingTriggers) await installTrigger(tx, trigger);
  });
}

async function findMissing<Item>(
  all: readonly Item[],
  isInstalled: (item: Item) => Promise<boolean>,
): Promise<Item[]> {
  const found: Item[] = [];
  for (const item of all) if (!(await isInstalled(item))) found.push(item);
  return found;
}

async function setLockTimeout(tx: Kysely<Schema>, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(`${ms}ms`)}`.execute(tx);
}

/**
 * The comment of the constraint has the expression as it was installed: Postgres stores the expression itself
 * in another form.
 */
async function isCheckInstalled(
  db: Kysely<Schema>,
  { table, name, expression }: CheckConstraint,
): Promise<boolean> {
  const { rows } = await sql<{ comment: string | null }>`
    SELECT obj_description(oid, 'pg_constraint') AS comment FROM pg_constraint
    WHERE conrelid = ${table}::regclass AND conname = ${name}`.execute(db);
  return rows[0]?.comment === expression;
}

async function installCheck(db: Kysely<Schema>, { table, name, expression }: CheckConstraint): Promise<void> {
  const [on, constraint] = [sql.id(table), sql.id(name)];
  await sql`ALTER TABLE ${on} DROP CONSTRAINT IF EXISTS ${constraint}`.execute(db);
  await sql`ALTER TABLE ${on} ADD CONSTRAINT ${constraint} CHECK (${sql.raw(expression)})`.execute(db);
  await sql`COMMENT ON CONSTRAINT ${constraint} ON ${on} IS ${sql.lit(expression)}`.execute(db);
}

/**
 * Compares the body of the function, and the rest by the comment of the trigger. A disabled trigger counts as
 * missing.
 */
async function isTriggerInstalled(db: Kysely<Schema>, trigger: StateTrigger): Promise<boolean> {
  const { rows } = await sql<{ body: string; comment: string | null }>`
    SELECT p.prosrc AS body, obj_description(t.oid, 'pg_trigger') AS comment
    FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE t.tgrelid = ${trigger.table}::regclass AND t.tgname = ${trigger.name} AND t.tgenabled = 'O'`.execute(
    db,
  );
  return rows[0]?.body === trigger.body && rows[0].comment === commentOf(trigger);
}

const commentOf = ({ definition, settings }: StateTrigger): string => `${definition} ${settings}`.trim();

async function installTrigger(db: Kysely<Schema>, trigger: StateTrigger): Promise<void> {
  const { body, settings, definition } = trigger;
  const [on, name] = [sql.id(trigger.table), sql.id(trigger.name)];
  await sql`CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql ${sql.raw(settings)}
    AS $body$${sql.raw(body)}$body$`.execute(db);
  await sql`CREATE OR REPLACE TRIGGER ${name} ${sql.raw(definition)} EXECUTE FUNCTION ${name}()`.execute(db);
  await sql`ALTER TABLE ${on} ENABLE TRIGGER ${name}`.execute(db);
  await sql`COMMENT ON TRIGGER ${name} ON ${on} IS ${sql.lit(commentOf(trigger))}`.execute(db);
}
