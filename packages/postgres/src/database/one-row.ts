import { DependencyUnavailableError } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from './database.ts';
import { hasCode, isSystemError, isTimeout } from './errors.ts';

/** An SQLSTATE, but not of class 42, errors in a statement and missing rights: they are not about a row. */
const PERHAPS_OF_A_ROW = /^(?!42)[\dA-Z]{5}$/;

/**
 * Whether Postgres works, and one row of the statement may be the reason of the error: it is locked, a trigger
 * refuses it, or its block is damaged. Never when Postgres is away, full or read only.
 */
export function mayBeOfOneRow(error: unknown): boolean {
  if (isTimeout(error) || isSystemError(error)) return true;
  return !(error instanceof DependencyUnavailableError) && hasCode(error, PERHAPS_OF_A_ROW);
}

/**
 * After so many rows that are refused, and none that is not, the statement itself may be wrong: the others are not
 * tried one by one. These ten are reported all the same, because they may be the rows of one damaged block: the next
 * run leaves them out, and reaches those behind them.
 */
const MAX_REFUSED_ALONE = 10;

/**
 * Runs a statement on all rows. While it fails, and one row may be the reason, it runs on each half, until
 * the row is found. So one row stops no others.
 * @param onRefused called at the end for each row that was refused alone, also before the error of many
 * @param isOfOneRow default: `mayBeOfOneRow`
 * @returns the results of the statements that succeeded
 * @throws any other error, and the error of a row when all of the first ten are refused
 */
export async function inHalves<Row, Result>(
  rows: readonly Row[],
  run: (rows: readonly Row[]) => Promise<Result>,
  onRefused: (row: Row, error: unknown) => void,
  isOfOneRow: (error: unknown) => boolean = mayBeOfOneRow,
): Promise<Result[]> {
  const results: Result[] = [];
  const refused: { readonly row: Row; readonly error: unknown }[] = [];
  const runPart = async (part: readonly Row[]): Promise<void> => {
    const [row] = part;
    if (row === undefined) return;
    try {
      results.push(await run(part));
    } catch (error) {
      if (!isOfOneRow(error)) throw error;
      if (part.length > 1) {
        const middle = Math.ceil(part.length / 2);
        await runPart(part.slice(0, middle));
        await runPart(part.slice(middle));
        return;
      }
      refused.push({ row, error });
      if (results.length === 0 && refused.length >= MAX_REFUSED_ALONE) throw error;
    }
  };
  try {
    await runPart(rows);
  } finally {
    for (const { row, error } of refused) onRefused(row, error);
  }
  return results;
}

/** Which rows of a search a statement takes: up to `limit`, or only these. */
export interface Portion {
  readonly limit: number;
  /** The names of rows to leave out: see `Portioned.search`. */
  readonly without?: readonly string[];
  readonly only?: readonly string[];
}

/** A statement that searches its rows itself. */
export interface Portioned<Result> {
  /** A SELECT of `name` in the order of the statement: the id of each row, as text. */
  readonly search: (portion: Portion) => RawBuilder<unknown>;
  readonly run: (portion: Portion) => Promise<Result>;
}

/** The condition on `name`, an expression, for a search. */
export function within(name: RawBuilder<string>, { without = [], only }: Portion): RawBuilder<boolean> {
  if (only !== undefined) return sql`${name} = ANY (${only}::text[])`;
  return without.length === 0 ? sql`true` : sql`${name} <> ALL (${without}::text[])`;
}

/** `inHalves` for a statement that searches its rows itself: they are searched apart once it has failed. */
export async function inPortions<Result>(
  db: Database,
  { search, run }: Portioned<Result>,
  portion: Portion,
  onRefused: (name: string, error: unknown) => void,
): Promise<Result[]> {
  try {
    return [await run(portion)];
  } catch (error) {
    if (!mayBeOfOneRow(error)) throw error;
  }
  const { rows } = await sql<{ name: string }>`SELECT name FROM (${search(portion)}) AS found`.execute(db);
  const names = rows.map(({ name }) => name);
  return await inHalves(names, (only) => run({ limit: only.length, only }), onRefused);
}

/** What ended more than so long ago. */
export type Aged = { readonly retentionSeconds: number } & Portion;

/** Removes the rows that are found, but those that another session has locked. @returns how many */
export async function removed(db: Database, table: string, found: RawBuilder<unknown>): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      ${found} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM ${sql.table(table)} AS r USING old WHERE r.id = old.id`.execute(db);
  return affectedRows(result);
}
