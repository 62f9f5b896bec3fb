/*
 * What the statements do so that Postgres plans them well, and why. The planner trusts statistics that are a
 * minute old, and a kept plan was made for the tables of its time. A queue that was empty then may have 100,000
 * rows after an outage, so each statement must read a few rows by their ids or from the start of an index, whatever
 * the statistics say. test/executions/kept-plans.volume.ts and scale.volume.ts show it.
 *
 * Beside the fragments below, the statements have these forms:
 * - `WITH … AS MATERIALIZED (SELECT … FOR UPDATE)`: a plain `IN (SELECT … FOR UPDATE)` may be run, and lock, more
 *   than once. A LIMIT stands inside it: with a join first, a backlog of 100,000 rows is read to send 500 of them.
 * - `id = ANY (ARRAY(SELECT id FROM due))`: one lookup by the index for each id. For a join with `due` the statistics
 *   of a partial index make the planner expect far more rows, and read the whole table.
 * - `LEFT JOIN LATERAL (SELECT … LIMIT 1)`, a scalar subquery instead of EXISTS, and `OFFSET 0`: the subquery is not
 *   made into a join, which would read its whole table when the rows on the left are many.
 * - Conditions and orders that repeat those of a partial index, with literals instead of parameters: only so does a
 *   kept plan use the index, and read no more of it than the LIMIT.
 */
import { sql, type RawBuilder } from 'kysely';

/**
 * The planner's settings of a connection that keeps plans. Without them a kept plan that was made for an
 * empty table reads the table from end to end, and goes on doing so when the table has 20,000 rows. Before
 * Postgres 18 a statement that has to read a table in this way looks so expensive that Postgres would compile
 * it.
 */
export const PLANNING = '-c enable_seqscan=off -c jit=off';

/**
 * The setting of a trigger that joins its transition tables. Without it plpgsql keeps the nested loops of its
 * first small call, which take 92 ms instead of 14 ms for 1000 rows.
 */
export const NO_NESTED_LOOPS = 'SET enable_nestloop = off';

/**
 * The state of a row that is found by its id, hidden from the planner. With a plain `status = 'PENDING'` the
 * planner prefers to scan the whole partial index of that state, because the statistics say that the index is
 * nearly empty. With 100,000 rows in it, a claim of ten took 227 ms and 111,814 pages; by id it takes 1.3 ms and 876
 * pages.
 */
export function opaqueState(alias: string): RawBuilder<string> {
  return sql`(${sql.ref(`${alias}.status`)} || '')`;
}

/**
 * The right side of a comparison with an array parameter, in a prepared statement. The subquery hides the
 * number of elements from the planner, which then expects ten. If the planner saw one or two elements, a new
 * plan for them would look cheaper than the kept plan, and Postgres would plan each time.
 */
export function anyOf(
  elements: readonly (string | Buffer)[],
  type: 'text' | 'uuid' | 'bytea',
): RawBuilder<unknown> {
  const array = sql.raw(`${type}[]`);
  return sql`ANY ((SELECT ${elements}::${array})::${array})`;
}
