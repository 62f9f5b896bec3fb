import type { QueryResult } from 'kysely';

/** How many rows an INSERT, UPDATE or DELETE changed. */
export function affectedRows({ numAffectedRows }: QueryResult<unknown>): number {
  return Number(numAffectedRows ?? 0);
}
