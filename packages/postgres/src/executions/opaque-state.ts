import { sql, type RawBuilder } from 'kysely';

/**
 * The state of a row that is looked up by its id, hidden from the planner. Seeing `status = 'PENDING'` it would rather scan a whole partial
 * index of that state, which its statistics say is nearly empty; they are a minute old, and after an outage of SQS there are 100,000
 * rows in it: a claim of ten took 227 ms and 111,814 pages where by id it takes 1.3 ms and 876.
 */
export function opaqueState(alias: string): RawBuilder<string> {
  return sql`(${sql.ref(`${alias}.status`)} || '')`;
}
