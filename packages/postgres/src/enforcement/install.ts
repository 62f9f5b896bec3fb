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
 * A change of triggers needs each of the tables for itself for a moment, and no order of taking them is safe: a creation writes pastes
 * before executions, a settlement the other way round. Giving up before Postgres looks for deadlocks (after 1 s) and trying again means
 * that no service ever loses a statement to a deploy.
 */
const LOCK_TIMEOUT_MS = 300;
const MAX_TRIES = 50;

/** An autovacuum only makes way for who waits longer than that second: a lock that is in no writer's way sends it away, and keeps it away. */
const VACUUM_TIMEOUT_MS = 30_000;

/**
 * Makes the database's enforcement of the state machines equal to the tables in packages/domain. Runs after the migrations, each time;
 * what is already right is left alone and locks nothing.
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
    const missingChecks = await missing(checks, (check) => isCheckInstalled(tx, check));
    const missingTriggers = await missing(triggers, (trigger) => isTriggerInstalled(tx, trigger));
    const tables = new Set([...missingChecks, ...missingTriggers].map(({ table }) => table));
    await setLockTimeout(tx, VACUUM_TIMEOUT_MS);
    for (const table of [...tables].toSorted())
      await sql`LOCK TABLE ${sql.id(table)} IN SHARE UPDATE EXCLUSIVE MODE`.execute(tx);
    await setLockTimeout(tx, LOCK_TIMEOUT_MS);
    for (const check of missingChecks) await installCheck(tx, check);
    for (const trigger of missingTriggers) await installTrigger(tx, trigger);
  });
}

async function missing<Wanted>(
  all: readonly Wanted[],
  isInstalled: (wanted: Wanted) => Promise<boolean>,
): Promise<Wanted[]> {
  const found: Wanted[] = [];
  for (const wanted of all) if (!(await isInstalled(wanted))) found.push(wanted);
  return found;
}

async function setLockTimeout(tx: Kysely<Schema>, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(`${ms}ms`)}`.execute(tx);
}

/** The constraint's comment keeps the expression as we wrote it: Postgres gives it back in words of its own. */
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

/** What the function does is compared itself; for the rest the trigger's comment stands. A disabled trigger is none. */
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
