import { beforeEach, describe, expect, it } from '@jest/globals';
import { machines } from '@pasteflow/domain';
import { sql } from 'kysely';
import { FORBIDDEN_CHANGE_SQLSTATE } from '../../src/index.ts';
import { makeJobs, makePastes, makeUsers } from '../../src/testing/index.ts';
import { keptColumns } from '../../src/enforcement/kept-columns.ts';
import { serviceRoles, type ServiceRole } from '../../src/roles/role-names.ts';
import { rights } from '../../src/roles/rights.ts';
import { useDatabase } from '../support/database.ts';
import { sqlStateOf, urlOfRole } from '../support/roles.ts';

const current = useDatabase({ fresh: 'file' });

/** Columns that a service may change in any way, and why that brings nothing back. */
const free: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  api_tokens: { last_used_at: 'is shown, and decides nothing' },
  paste_retries: { paste_id: 'follows the paste when it is retried again' },
  transition_statistics: { count: 'is counted', seconds: 'is counted', buckets: 'is counted' },
  sweep_runs: {
    started_at: 'is the last run',
    ended_at: 'is the last run',
    outcome: 'is the last run',
    last_success_at: 'is the last run',
    seconds: 'is the last run',
    counts: 'is the last run',
    refused: 'is the last run',
    janitor: 'is the last run',
  },
  orphan_objects: {
    last_modified: 'is what the bucket says',
    first_seen_at: 'only delays a deletion that the janitor may make',
    last_seen_at: 'only delays a deletion that the janitor may make',
  },
  idempotency_keys: {
    fingerprint: 'belongs to the claim',
    claim_id: 'belongs to the claim',
    claimed_until: 'belongs to the claim',
    answer: 'has no content, and the api may delete the key',
    created_at: 'begins anew when the key is used again after its retention',
  },
  work_kinds: {
    paused_at: 'is the pause in force',
    paused_by: 'is the pause in force',
    pause_reason: 'is the pause in force',
    resumed_at: 'only delays messages that are sent again',
  },
  rate_limits: { points: 'is counted', expire: 'is the window of the counter' },
  webhook_endpoints: {
    generation: 'only makes another secret',
    rotated_at: 'only says how long the secret before signs as well',
    failing_since: 'is what the last deliveries say',
    switched_off_at: 'only stops or starts what the owner is told',
    switched_off_for: 'only stops or starts what the owner is told',
  },
  users: { shown_name: 'is what the identity provider said last' },
  pastes: { counted: 'changes the counters with it, either way' },
};

const updatable = serviceRoles.flatMap((role) =>
  Object.entries(rights[role]).flatMap(([table, decision]) =>
    decision === 'none' || !('update' in decision)
      ? []
      : decision.update.map((column) => `${table}.${column}`),
  ),
);

it('each column that a service may update is a state, is kept, or has a reason here', () => {
  const decided = [
    ...machines.map(({ storedIn: { table, column } }) => `${table}.${column}`),
    ...keptColumns.flatMap(({ table, always = [], onceSet = [], onceEnded = [], exceptRemoved = [] }) =>
      [...always, ...onceSet, ...onceEnded.flatMap(([, ended]) => ended), ...exceptRemoved].map(
        (column) => `${table}.${column}`,
      ),
    ),
    ...Object.entries(free).flatMap(([table, columns]) =>
      Object.keys(columns).map((column) => `${table}.${column}`),
    ),
  ];
  expect(decided.toSorted()).toEqual([...new Set(updatable)].toSorted());
});

const hash = `'sha256:${'0'.repeat(64)}'`;

/** Rows that say something which no service takes back. */
let isFilled = false;
beforeEach(async () => {
  if (isFilled) return;
  isFilled = true;
  const [user] = await makeUsers(current.db, 1);
  await makePastes(current.db, 1, { status: 'PROCESSED', shortCodes: ['stored'], userId: user!.id });
  await makePastes(current.db, 1, { status: 'FAILED', shortCodes: ['failed'] });
  await makePastes(current.db, 1, {
    status: 'PROCESSED',
    shortCodes: ['deleted'],
    deletion: { status: 'DELETED', secondsAgo: 60 },
  });
  await makeJobs(current.db, 1, { userId: user!.id, status: 'completed' });
  for (const statement of [
    `UPDATE pastes SET deletion_requested_at = now(), taken_down_for = 'malware', title = 'a title', syntax = 'rust' WHERE short_code = 'stored'`,
    `INSERT INTO failed_payloads (paste_id, content) SELECT id, 'x' FROM pastes WHERE short_code = 'failed'`,
    `INSERT INTO api_tokens (user_id, name, token_hash, revoked_at) SELECT id, 't', sha256('t'), now() FROM users`,
    `INSERT INTO content_blocks (content_hash, class, reason, actor, unblocked_at, unblocked_by, unblock_reason)
      VALUES (${hash}, 'malware', 'r', 'a', now(), 'a', 'r')`,
    `INSERT INTO paste_reports (paste_id, content_hash, class, reporter) SELECT id, content_hash, 'spam', sha256('a') FROM pastes WHERE short_code = 'stored'`,
    `UPDATE paste_reports SET status = 'rejected', judged_at = now(), reporter = NULL`,
    `INSERT INTO operator_actions (actor, action, reason, outcome) VALUES ('a', 'takedown', 'r', 'done')`,
  ])
    await sql.raw(statement).execute(current.db);
});

const [stored, failed, deleted] = ['stored', 'failed', 'deleted'].map(
  (code) => `WHERE short_code = '${code}'`,
);
const api = ['pasteflow_api'] as const;
const janitor = ['pasteflow_janitor'] as const;
const settlers = ['pasteflow_worker', 'pasteflow_janitor'] as const;

const refused: readonly (readonly [readonly ServiceRole[], string])[] = [
  [api, `UPDATE pastes SET deletion_requested_at = NULL ${stored}`],
  [api, `UPDATE pastes SET deletion_requested_at = now() + interval '1 day' ${stored}`],
  [janitor, `UPDATE pastes SET deletion_requested_at = NULL, taken_down_for = NULL ${stored}`],
  [janitor, `UPDATE pastes SET taken_down_for = NULL ${stored}`],
  [janitor, `UPDATE pastes SET taken_down_for = 'spam' ${stored}`],
  [janitor, `UPDATE pastes SET title = 'another' ${stored}`],
  [janitor, `UPDATE pastes SET syntax = 'another' ${stored}`],
  [janitor, `UPDATE pastes SET held_at = now() ${stored}`],
  [janitor, `UPDATE paste_reports SET judged_at = now() + interval '1 day'`],
  [janitor, `UPDATE paste_reports SET reporter = sha256('r')`],
  [settlers, `UPDATE pastes SET s3_url = 's3://another/object' ${stored}`],
  [settlers, `UPDATE pastes SET stored_encoding = 'gzip' ${stored}`],
  [settlers, `UPDATE pastes SET failure_reason = 'another' ${failed}`],
  [settlers, `UPDATE pastes SET failed_at = now() + interval '1 day' ${failed}`],
  [janitor, `UPDATE pastes SET deleted_at = now() - interval '60 days' ${deleted}`],
  [settlers, `UPDATE jobs SET result = '{"another": true}'`],
  [settlers, `UPDATE jobs SET error_message = 'another'`],
  [settlers, `UPDATE jobs SET payload = '{"items": []}'`],
  [settlers, `UPDATE jobs SET completed_at = now() - interval '60 days'`],
  [settlers, `UPDATE task_executions SET error = 'another' WHERE status = 'FAILED'`],
  [settlers, `UPDATE task_executions SET worker_id = 'another' WHERE status = 'SUCCEEDED'`],
  [api, `UPDATE task_executions SET dispatched_at = NULL WHERE status = 'SUCCEEDED'`],
  [api, `UPDATE users SET name = 'another'`],
  [api, `UPDATE api_tokens SET revoked_at = NULL`],
  [api, `UPDATE api_tokens SET revoked_at = now() + interval '1 day'`],
  [janitor, `UPDATE failed_payloads SET paste_id = (SELECT id FROM pastes ${stored})`],
  [janitor, `UPDATE content_blocks SET unblocked_at = NULL, unblocked_by = NULL, unblock_reason = NULL`],
  [janitor, `UPDATE operator_actions SET outcome = 'another'`],
];

it.each(refused.flatMap(([roles, statement]) => roles.map((role) => [role, statement] as const)))(
  '%s is refused %s, and the owner of the tables is not',
  async (role, statement) => {
    expect(await sqlStateOf(urlOfRole(current.url, role), statement)).toBe(FORBIDDEN_CHANGE_SQLSTATE);
    expect(await sqlStateOf(current.url, 'BEGIN', statement)).not.toBe(FORBIDDEN_CHANGE_SQLSTATE);
  },
);

describe('a service is not refused', () => {
  it.each([
    ['pasteflow_api', `UPDATE pastes SET deletion_requested_at = now() ${failed}`],
    ['pasteflow_janitor', `UPDATE pastes SET title = NULL, syntax = NULL ${stored}`],
    ['pasteflow_api', 'UPDATE api_tokens SET revoked_at = revoked_at, last_used_at = now()'],
    ['pasteflow_api', 'UPDATE users SET name = name'],
  ] as const)('%s: %s', async (role, statement) => {
    expect(await sqlStateOf(urlOfRole(current.url, role), 'BEGIN', statement)).toBeNull();
  });
});

const INSUFFICIENT_PRIVILEGE = '42501';

it.each(serviceRoles)(
  '%s cannot change when a paste expires, and inserts no paste that is deleted',
  async (role) => {
    const url = urlOfRole(current.url, role);
    for (const statement of [
      'UPDATE pastes SET expires_at = NULL',
      `INSERT INTO pastes (short_code, content_hash, size_bytes, deletion_requested_at) VALUES ('new', ${hash}, 1, now())`,
    ])
      expect(await sqlStateOf(url, statement)).toBe(INSUFFICIENT_PRIVILEGE);
  },
);
