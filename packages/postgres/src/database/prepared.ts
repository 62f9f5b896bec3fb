import { createHash } from 'node:crypto';
import { sql, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely';
import type { Schema } from '../schema/schema.ts';

const MARK = '/* prepared */';

/**
 * Marks a statement whose plan each connection keeps, at the beginning of its text. Parsing and planning are
 * more than half of the cost of a statement on a few rows.
 *
 * After five executions Postgres keeps one plan for all parameters, made for the tables as they were then. A
 * statement may have the mark only if that plan stays good when the tables grow:
 * `test/executions/kept-plans.volume.ts` shows that for each of them.
 */
export const prepared: RawBuilder<unknown> = sql.raw(`${MARK} `);

/**
 * A statement that kysely compiles at its first execution: to compile a hot one takes longer than to send it.
 * @param build each parameter of the statement is `value`
 */
export function compiledOnce<Value, Row>(
  build: (db: Kysely<Schema>, value: Value) => CompiledQuery<Row>,
): (db: Kysely<Schema>, value: Value) => Promise<Row[]> {
  let compiled: CompiledQuery<Row> | undefined;
  return async (db, value) => {
    compiled ??= build(db, value);
    const parameters = compiled.parameters.map(() => value);
    return (await db.executeQuery<Row>({ ...compiled, parameters })).rows;
  };
}

/** The mark comes after at most a few words. */
const MARKED_WITHIN = 40;

/**
 * Postgres keeps a statement and its plan, 50 to 350 kB, for each connection. Texts with values in them would
 * make ever more of them.
 */
const MAX_NAMES = 200;

const names = new Map<string, string>();

/**
 * The name under which a connection prepares a statement; undefined for a statement without the mark. Equal
 * texts have equal names.
 */
export function nameOfPrepared(text: string): string | undefined {
  if (!text.slice(0, MARKED_WITHIN).includes(MARK)) return undefined;
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMES) return undefined;
  const name = `pasteflow_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
  names.set(text, name);
  return name;
}

/**
 * Whether a prepared statement failed because of its preparation, before it did anything: a migration has
 * changed the columns that its kept plan returns (0A000; the routine tells it from other features that are
 * not supported), or a pooler has given the connection another server process, which doesn't have the
 * statement (26000) or already has one of that name (42P05).
 */
export function isUnusablePreparation(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const { code, routine } = error as { code?: string; routine?: string };
  return code === '0A000' ? routine === 'RevalidateCachedQuery' : code === '26000' || code === '42P05';
}
