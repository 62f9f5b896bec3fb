import {
  contentOptionNames,
  isTerminal,
  job,
  pasteUpload,
  pasteDeletion,
  statesOf,
  taskExecution,
  webhookDelivery,
  type Machine,
} from '@pasteflow/domain';
import { FORBIDDEN_CHANGE_SQLSTATE } from '../database/errors.ts';
import { literal, type EnforcedTrigger } from '../database/objects.ts';

/**
 * What a service must keep although it may write the column, for each table. `always`: never changed; the
 * right is there to lock a row.
 * `onceSet`: facts, which nobody takes back or replaces. `onceEnded`: what a row says once its machine has
 * reached a terminal state.
 * `exceptRemoved`: may be removed, and not be changed.
 */
interface KeptColumns {
  readonly table: string;
  readonly always?: readonly string[];
  readonly onceSet?: readonly string[];
  readonly onceEnded?: readonly (readonly [Machine, readonly string[]])[];
  readonly exceptRemoved?: readonly string[];
}

export const keptColumns: readonly KeptColumns[] = [
  {
    table: 'pastes',
    onceSet: ['deletion_requested_at', 'taken_down_for'],
    onceEnded: [
      [pasteUpload, ['s3_url', 'stored_encoding', 'processed_at', 'failure_reason', 'failed_at']],
      [pasteDeletion, ['deletion_initiated_at', 'deleted_at']],
    ],
    exceptRemoved: [...contentOptionNames, 'held_at', 'read_by'],
  },
  {
    table: 'jobs',
    onceSet: ['retried_as'],
    onceEnded: [
      [job, ['progress', 'progress_message', 'error_message', 'result', 'updated_at', 'completed_at']],
    ],
    exceptRemoved: ['payload'],
  },
  {
    table: 'task_executions',
    onceEnded: [
      [
        taskExecution,
        ['worker_id', 'started_at', 'dispatched_at', 'lease_expires_at', 'error', 'finished_at'],
      ],
    ],
  },
  {
    table: 'webhook_deliveries',
    onceEnded: [[webhookDelivery, ['answered', 'failure_reason', 'ended_at']]],
  },
  { table: 'webhook_endpoints', onceSet: ['removed_at'], exceptRemoved: ['url'] },
  { table: 'paste_reports', onceSet: ['judged_at'], exceptRemoved: ['reporter'] },
  { table: 'users', always: ['name'] },
  { table: 'erasures', onceSet: ['done_at'] },
  { table: 'failed_payloads', always: ['paste_id'] },
  { table: 'api_tokens', onceSet: ['revoked_at'] },
  { table: 'invitations', onceSet: ['accepted_at', 'ended_at'] },
  { table: 'content_blocks', onceSet: ['unblocked_at', 'unblocked_by', 'unblock_reason'] },
  { table: 'operator_actions', onceSet: ['outcome'] },
];

/**
 * Refuses a service a change that takes back what has happened, so that a hostile statement in a service
 * can't bring back a deleted paste or a revoked token. The owner of the table may: operators repair rows, and
 * owner functions have checks of their own. An INSERT fires no such trigger, and an UPDATE of other columns
 * doesn't evaluate the condition.
 */
export function keptGuard(kept: KeptColumns): EnforcedTrigger {
  const { table, always = [], onceSet = [], onceEnded = [], exceptRemoved = [] } = kept;
  const name = `guard_${table}_kept`;
  const changed = (column: string) => `OLD.${column} IS DISTINCT FROM NEW.${column}`;
  const columns = [...always, ...onceSet, ...onceEnded.flatMap(([, ended]) => ended), ...exceptRemoved];
  const conditions = [
    ...always.map(changed),
    ...onceSet.map((column) => `OLD.${column} IS NOT NULL AND ${changed(column)}`),
    ...onceEnded.map(
      ([machine, ended]) =>
        `OLD.${machine.storedIn.column} IN (${terminalStates(machine)}) AND (${ended.map(changed).join(' OR ')})`,
    ),
    ...exceptRemoved.map((column) => `NEW.${column} IS NOT NULL AND ${changed(column)}`),
  ];
  return {
    table,
    name,
    function: name,
    runsAsOwner: false,
    settings: '',
    body: `
    BEGIN
      IF pg_has_role(current_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'USAGE') THEN RETURN NEW; END IF;
      RAISE EXCEPTION 'A service cannot take back what the columns ${columns.join(', ')} of % say. Only the owner of the table can.', TG_TABLE_NAME USING
        ERRCODE = '${FORBIDDEN_CHANGE_SQLSTATE}', TABLE = TG_TABLE_NAME;
    END`,
    definition: `BEFORE UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW WHEN (${conditions.join(' OR ')})`,
  };
}

function terminalStates(machine: Machine): string {
  return statesOf(machine)
    .filter((state) => isTerminal(machine, state))
    .map(literal)
    .join(', ');
}
