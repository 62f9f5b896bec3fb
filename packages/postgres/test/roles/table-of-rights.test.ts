import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { serviceRoles } from '../../src/roles/role-names.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });

/**
 * What each service may do with each table and view, written down a second time: a change of a right in
 * rights.ts needs the same change here. S, I, U, D and T: SELECT, INSERT, UPDATE, DELETE and TRUNCATE, on all
 * columns; s, i and u: on some columns.
 */
const expected = `
                        api      worker   janitor
api_tokens              SiuD.    .....    s.uD.
assets                  S....    Si.D.    S....
bucket_adoptions        .....    .....    Si...
cleared_contents        .....    .....    Si.D.
content_blocks          s....    s....    Siu..
deposits                Si...    .....    s..D.
erasures                .....    .....    S.u..
failed_payloads         .....    .i...    SiuD.
idempotency_keys        SiuD.    .....    s.uD.
installation            .....    s....    s....
invitations             S.u..    .....    siuD.
jobs                    siu..    S.u..    siuD.
kysely_migration        .....    .....    .....
kysely_migration_lock   .....    .....    .....
operator_actions        .....    .....    Siu..
operator_sessions       .....    .....    SI.D.
orphan_objects          .....    .....    SIuD.
paste_changes           .....    .....    S....
paste_payloads          si...    Si.D.    Si.D.
paste_reports           .....    .....    S.uD.
paste_retries           S....    .....    Siu..
pastes                  Siu..    Siu..    SiuD.
rate_limits             SIuD.    SIu..    S.uD.
secret_requests         Si...    .....    S.uD.
slug_versions           S....    .....    s....
state_transitions       S....    .....    S....
stored_usage            S....    S....    S....
sweep_runs              .....    .....    SIu..
takedowns               .....    .....    Si...
task_executions         Siu..    Siu..    SiuD.
transition_statistics   .....    .....    Siu..
uncounted_transitions   .....    .....    S..D.
users                   Siu..    .....    Siu..
webhook_deliveries      Si...    S.u..    S.uD.
webhook_endpoints       Siu..    S.u..    SiuD.
work_kinds              s....    si...    S.u..
`;

const VERBS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'];

/** What a role may do with each table and view, by whatever way it has the right. */
async function rightsOf(role: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ relation: string; letters: string }>`
    SELECT relname AS relation, string_agg(CASE
        WHEN has_table_privilege(${role}, c.oid, verb) THEN left(verb, 1)
        WHEN verb IN ('SELECT', 'INSERT', 'UPDATE') AND has_any_column_privilege(${role}, c.oid, verb) THEN lower(left(verb, 1))
        ELSE '.' END, '' ORDER BY place) AS letters
    FROM pg_class c, unnest(${VERBS}::text[]) WITH ORDINALITY AS v (verb, place)
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
    GROUP BY 1`.execute(current.db);
  return new Map(rows.map(({ relation, letters }) => [relation, letters]));
}

const line = (first: string, others: readonly string[]): string =>
  [first.padEnd(24), ...others.map((each) => each.padEnd(9))].join('').trimEnd();

it('each service may do with each table what this page says', async () => {
  const rights = await Promise.all(serviceRoles.map(rightsOf));
  const tables = [...rights[0]!.keys()].toSorted();
  const lines = [
    line(
      '',
      serviceRoles.map((role) => role.replace('pasteflow_', '')),
    ),
    ...tables.map((table) =>
      line(
        table,
        rights.map((ofRole) => ofRole.get(table)!),
      ),
    ),
  ];
  expect(`\n${lines.join('\n')}\n`).toBe(expected);
});
