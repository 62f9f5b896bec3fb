import type { EnforcedTrigger, OwnerFunction } from './objects.ts';

/** The owner of the parts that count all pastes. */
export const ALL_PASTES = '00000000-0000-0000-0000-000000000000';

/** Of all pastes. Few creations commit at the same time. */
const PARTS = 16;

const ADDED = `SELECT 1 AS sign, user_id, size_bytes, counted, deletion_status FROM new_rows`;
const REMOVED = `SELECT -1, user_id, size_bytes, counted, deletion_status FROM old_rows`;

const creationPart = `CASE WHEN owner = '${ALL_PASTES}' THEN pg_backend_pid() % ${PARTS} ELSE 0 END`;

/**
 * Counts what each statement changes, from any client: counters and pastes are committed together. The rows
 * of the counters are locked in one order, those of all pastes last.
 */
export const storedUsageTriggers: readonly EnforcedTrigger[] = [
  countTrigger('insert', 'NEW TABLE AS new_rows', ADDED, creationPart),
  countTrigger(
    'update',
    'OLD TABLE AS old_rows NEW TABLE AS new_rows',
    `${ADDED} UNION ALL ${REMOVED}`,
    '-1',
  ),
  countTrigger('delete', 'OLD TABLE AS old_rows', `${REMOVED.replace('-1', '-1 AS sign')}`, '-1'),
];

function countTrigger(event: string, tables: string, changes: string, part: string): EnforcedTrigger {
  const name = `count_pastes_${event}`;
  return {
    table: 'pastes',
    name,
    function: name,
    runsAsOwner: true,
    settings: '',
    body: `
    BEGIN
      IF NOT EXISTS (SELECT FROM (${changes}) AS change WHERE counted) THEN RETURN NULL; END IF;
      INSERT INTO stored_usage AS u (owner, part, pastes, bytes)
        SELECT owner, ${part}, pastes, bytes FROM (
          SELECT CASE WHEN grouping(user_id) = 1 THEN '${ALL_PASTES}' ELSE user_id END AS owner, sum(sign) AS pastes,
            sum(sign * size_bytes::bigint) AS bytes
          FROM (${changes}) AS change WHERE counted AND deletion_status <> 'DELETED'
          GROUP BY GROUPING SETS ((user_id), ()) HAVING grouping(user_id) = 1 OR user_id IS NOT NULL
        ) AS changed WHERE pastes <> 0 OR bytes <> 0 ORDER BY owner = '${ALL_PASTES}', owner
      ON CONFLICT (owner, part) DO UPDATE SET pastes = u.pastes + excluded.pastes, bytes = u.bytes + excluded.bytes;
      RETURN NULL;
    END`,
    definition: `AFTER ${event.toUpperCase()} ON pastes REFERENCING ${tables} FOR EACH STATEMENT`,
  };
}

/**
 * The pastes and the bytes of a user. Creations of one user wait here for each other's commits, so that a
 * quota is exact: each query of a VOLATILE function sees what was committed before it began.
 */
export const lockedUsageFunction: OwnerFunction = {
  name: 'locked_usage',
  parameters: 'of_user uuid',
  returns: 'bigint[]',
  body: `
    BEGIN
      INSERT INTO stored_usage (owner, part) VALUES (of_user, 0) ON CONFLICT DO NOTHING;
      PERFORM FROM stored_usage WHERE owner = of_user AND part = 0 FOR UPDATE;
      RETURN (SELECT ARRAY[sum(pastes), sum(bytes)] FROM stored_usage WHERE owner = of_user);
    END`,
};
