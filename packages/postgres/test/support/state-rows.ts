import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { MachineName, machines, StateOf } from '@pasteflow/domain';
import type { Database } from '../../src/index.ts';
import { importRows } from '../../src/testing/index.ts';

const hash = `sha256:${'0'.repeat(64)}`;

/** The other columns that each state requires, as SQL. A column that is not named is NULL. */
const companions: {
  [M in (typeof machines)[number] as M['name']]: {
    columns: readonly string[];
    of: Record<StateOf<M>, Record<string, string>>;
  };
} = {
  paste_upload: {
    columns: ['s3_url', 'processed_at', 'failure_reason', 'failed_at'],
    of: {
      IN_PROGRESS: {},
      PROCESSED: { s3_url: `'s3://b/k'`, processed_at: 'now()' },
      FAILED: { failure_reason: `'why'`, failed_at: 'now()' },
    },
  },
  paste_deletion: {
    columns: ['deletion_initiated_at', 'deleted_at'],
    of: {
      NOT_EXPIRED: {},
      DELETION_IN_PROGRESS: { deletion_initiated_at: 'now()' },
      DELETED: { deletion_initiated_at: 'now()', deleted_at: 'now()' },
    },
  },
  job: {
    columns: ['completed_at'],
    of: {
      queued: {},
      processing: {},
      completed: { completed_at: 'now()' },
      partial: { completed_at: 'now()' },
      failed: { completed_at: 'now()' },
    },
  },
  task_execution: {
    columns: ['started_at', 'worker_id', 'lease_expires_at', 'finished_at', 'error'],
    of: {
      PENDING: {},
      RUNNING: { started_at: 'now()', worker_id: `'w'`, lease_expires_at: 'now()' },
      SUCCEEDED: { started_at: 'now()', worker_id: `'w'`, finished_at: 'now()' },
      FAILED: { started_at: 'now()', worker_id: `'w'`, finished_at: 'now()', error: `'why'` },
    },
  },
  paste_report: {
    columns: ['judged_at', 'reporter'],
    of: {
      open: { reporter: 'sha256(uuid_send(gen_random_uuid()))' },
      upheld: { judged_at: 'now()' },
      rejected: { judged_at: 'now()' },
    },
  },
  secret_request: {
    columns: ['ended_at', 'taken'],
    of: {
      OPEN: { taken: '0' },
      USED_UP: { taken: '1', ended_at: 'now()' },
      CANCELLED: { taken: '0', ended_at: 'now()' },
    },
  },
  webhook_delivery: {
    columns: ['ended_at', 'failure_reason'],
    of: {
      WAITING: {},
      DELIVERED: { ended_at: 'now()' },
      FAILED: { ended_at: 'now()', failure_reason: `'why'` },
    },
  },
  erasure: { columns: ['done_at'], of: { requested: {}, at_work: {}, done: { done_at: 'now()' } } },
};

/** The rest of a legal row. */
const basics: Record<MachineName, () => Record<string, string>> = {
  paste_upload: () => ({
    short_code: `'${randomUUID().replaceAll('-', '')}'`,
    content_hash: `'${hash}'`,
    size_bytes: '1',
  }),
  paste_deletion: () => ({
    short_code: `'${randomUUID().replaceAll('-', '')}'`,
    content_hash: `'${hash}'`,
    size_bytes: '1',
    status: `'PROCESSED'`,
    s3_url: `'s3://b/k'`,
    processed_at: 'now()',
  }),
  job: () => ({ job_type: `'t'`, user_id: '(SELECT id FROM users LIMIT 1)' }),
  task_execution: () => ({ kind: `'upload'`, subject_id: `'${randomUUID()}'`, attempt: '1' }),
  erasure: () => ({ user_id: `'${randomUUID()}'`, pastes: '0', jobs: '0' }),
  secret_request: () => ({
    code: `'${randomUUID().replaceAll('-', '').slice(0, 22)}'`,
    user_id: '(SELECT id FROM users LIMIT 1)',
    places: '1',
    expires_at: 'now()',
  }),
  webhook_delivery: () => ({
    endpoint_id: `'${randomUUID()}'`,
    event_id: `'${randomUUID()}'`,
    type: `'job.ended'`,
    about: `'a'`,
    occurrence: `'${randomUUID()}'`,
  }),
  paste_report: () => ({
    paste_id: '(SELECT id FROM pastes LIMIT 1)',
    content_hash: `'${hash}'`,
    class: `'spam'`,
  }),
};

function companionsOf(name: MachineName): {
  columns: readonly string[];
  of: Record<string, Record<string, string>>;
} {
  return companions[name];
}

/** The rows that others refer to. */
export async function insertReferenced(db: Database): Promise<void> {
  await sql`INSERT INTO users (name) VALUES ('dev') ON CONFLICT DO NOTHING`.execute(db);
  await sql`
    INSERT INTO pastes (short_code, content_hash, size_bytes) VALUES ('referenced', ${hash}, 1)
    ON CONFLICT DO NOTHING`.execute(db);
}

export interface StateRow {
  readonly id: string;
}

interface StoredMachine {
  readonly name: MachineName;
  readonly storedIn: { readonly table: string; readonly column: string };
}

/** The INSERT of a legal row in a state. */
export function insertStatement({ name, storedIn }: StoredMachine, state: string): string {
  const values = { ...basics[name](), ...companionsOf(name).of[state], [storedIn.column]: `'${state}'` };
  return `INSERT INTO ${storedIn.table} (${Object.keys(values).join(', ')})
    VALUES (${Object.values(values).join(', ')}) RETURNING id`;
}

export async function insertInState(db: Database, machine: StoredMachine, state: string): Promise<StateRow> {
  const { rows } = await importRows(db, (importing) =>
    sql.raw<StateRow>(insertStatement(machine, state)).execute(importing),
  );
  return rows[0] as StateRow;
}

/** The UPDATE that anybody with psql would write: state and companion columns together. */
export function updateToState({ name, storedIn }: StoredMachine, id: string, state: string): string {
  const { columns, of } = companionsOf(name);
  const assignments = columns.map((column) => `${column} = ${of[state]?.[column] ?? 'NULL'}`);
  return `UPDATE ${storedIn.table} SET ${storedIn.column} = '${state}', ${assignments.join(', ')} WHERE id = '${id}'`;
}
