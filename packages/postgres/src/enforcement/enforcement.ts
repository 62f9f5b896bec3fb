import type { Machine } from '@pasteflow/domain';
import { sql, type Kysely } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import { trailFunctions, trailGuard } from './audit-trail.ts';
import { cancelJobFunction } from '../jobs/cancel-job.ts';
import { eraseUserFunction, userStandsFunction } from '../sweeps/erasures.ts';
import { changePasteFunction } from '../pastes/change-paste.ts';
import { moveSlugFunction } from '../pastes/slug-versions.ts';
import { nameNewerVersionTrigger } from '../pastes/newer-versions.ts';
import { reportPasteFunction } from '../pastes/reports.ts';
import { resetDeletionTimesFunction, resetExecutionTimesFunction } from '../executions/times-ahead.ts';
import { revealPasteFunction } from '../pastes/reveal-paste.ts';
import { retryFailedFunction } from '../pastes/retry-failed.ts';
import { keptColumns, keptGuard } from './kept-columns.ts';
import { guardTrigger, recorderTrigger, stateCheck, identityGuard, insertGuard } from './machine-sql.ts';
import type { CheckConstraint, EnforcedTrigger, OwnerFunction } from '../database/objects.ts';
import { cancelSecretRequestFunction, takePlaceFunction } from '../secret-requests/secret-requests.ts';
import { countUntoldEventsFunction, eventTriggers, recordEventsFunction } from '../webhooks/events.ts';
import { lockedUsageFunction, storedUsageTriggers } from '../pastes/quotas.ts';

/** Everything that enforces the state machines in Postgres. */
export interface Enforcement {
  readonly checks: readonly CheckConstraint[];
  readonly triggers: readonly EnforcedTrigger[];
  readonly functions: readonly OwnerFunction[];
}

export async function enforcementOf(db: Kysely<Schema>, machines: readonly Machine[]): Promise<Enforcement> {
  const tables = [...new Set(machines.map((machine) => machine.storedIn.table))];
  const machinesOf = (table: string) => machines.filter((machine) => machine.storedIn.table === table);
  return {
    checks: machines.map(stateCheck),
    triggers: [
      ...machines.flatMap((machine) => [guardTrigger(machine), insertGuard(machine)]),
      ...tables.flatMap((table) => [
        identityGuard(table, identityColumnsOf(machinesOf(table))),
        recorderTrigger(table, machinesOf(table)),
      ]),
      ...storedUsageTriggers,
      nameNewerVersionTrigger,
      ...eventTriggers,
      ...keptColumns.map(keptGuard),
      ...(await trailTables(db)).map(trailGuard),
    ],
    functions: [
      ...trailFunctions,
      cancelJobFunction,
      eraseUserFunction,
      userStandsFunction,
      revealPasteFunction,
      reportPasteFunction,
      retryFailedFunction,
      moveSlugFunction,
      changePasteFunction,
      takePlaceFunction,
      cancelSecretRequestFunction,
      lockedUsageFunction,
      recordEventsFunction,
      countUntoldEventsFunction,
      resetExecutionTimesFunction,
      resetDeletionTimesFunction,
    ],
  };
}

function identityColumnsOf(machines: readonly Machine[]): readonly string[] {
  return [...new Set(machines.flatMap(({ storedIn }) => storedIn.identityColumns))];
}

/** The audit trail and its partitions, which change from month to month. */
async function trailTables(db: Kysely<Schema>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT relid::regclass::text AS name FROM pg_partition_tree('state_transitions') ORDER BY 1`.execute(db);
  return rows.map(({ name }) => name);
}
