import { createHash } from 'node:crypto';
import { canTransition, isState, machines, type Machine } from '@pasteflow/domain';
import type { Bucket } from './bucket.ts';
import type { Queues } from './queues.ts';
import type { PasteRow, Rows } from './rows.ts';

/** Where to look for what must hold when nothing is going on. */
export interface Surroundings {
  readonly rows: Rows;
  readonly bucket: Bucket;
  readonly queues: Queues;
}

/** Invariants 2, 3, 5 and 6 of docs/architecture.md: a sentence for each thing that is not as it must be. */
export async function disquiet(surroundings: Surroundings): Promise<string[]> {
  const goingOn = [...(await unfinished(surroundings)), ...(await strayMessages(surroundings))];
  // Every object is read whole: while something is going on, that would only keep the services from ending it.
  if (goingOn.length > 0) return goingOn;
  return [...(await strayObjects(surroundings)), ...(await illegalTransitions(surroundings))];
}

async function unfinished({ rows }: Surroundings): Promise<string[]> {
  const found = await rows.query<{ what: string }>(`
    SELECT 'paste ' || short_code || ' is IN_PROGRESS' AS what FROM pastes WHERE status = 'IN_PROGRESS'
    UNION ALL
    SELECT 'paste ' || short_code || ' is DELETION_IN_PROGRESS' FROM pastes WHERE deletion_status = 'DELETION_IN_PROGRESS'
    UNION ALL
    SELECT 'attempt ' || attempt || ' of ' || coalesce(p.short_code, subject_id::text) || ' is ' || e.status
    FROM task_executions e LEFT JOIN pastes p ON p.id = e.subject_id WHERE e.status IN ('PENDING', 'RUNNING')
    UNION ALL
    SELECT 'paste ' || short_code || ' is ' || status || ' and has a payload still'
    FROM paste_payloads JOIN pastes ON id = paste_id WHERE status <> 'IN_PROGRESS'`);
  return found.map(({ what }) => what);
}

async function strayObjects({ rows, bucket }: Surroundings): Promise<string[]> {
  const live = await rows.query<PasteRow>(
    `SELECT * FROM pastes WHERE status = 'PROCESSED' AND deletion_status <> 'DELETED'`,
  );
  const keys = new Set(await bucket.keys());
  const problems: string[] = [];
  for (const { short_code, s3_url, content_hash } of live) {
    const key = new URL(s3_url ?? 's3://none').pathname.slice(1);
    if (!keys.delete(key)) {
      problems.push(`paste ${short_code} is PROCESSED and S3 has no ${s3_url}`);
      continue;
    }
    const hash = createHash('sha256')
      .update(await bucket.read(key))
      .digest('hex');
    if (`sha256:${hash}` !== content_hash)
      problems.push(`${s3_url} holds other bytes than paste ${short_code}`);
  }
  return [...problems, ...[...keys].map((key) => `S3 holds ${key}, of which the table knows nothing`)];
}

async function strayMessages({ queues }: Surroundings): Promise<string[]> {
  const problems: string[] = [];
  for (const name of ['pasteflow-uploads', 'pasteflow-uploads-dead-letters'] as const) {
    const { visible, hidden } = await queues.counts(name);
    if (visible + hidden > 0) problems.push(`${name} has ${visible} messages, and ${hidden} hidden ones`);
  }
  return problems;
}

interface Step {
  readonly machine: string;
  readonly entity: string;
  readonly from: string;
  readonly to: string;
}

/** Each entity's history is a way through its machine's table, from the initial state to the one the row has now. */
async function illegalTransitions({ rows }: Surroundings): Promise<string[]> {
  const steps = await rows.query<Step & { id: string }>(
    `SELECT machine, entity, "from", "to" FROM state_transitions ORDER BY at, id`,
  );
  const problems: string[] = [];
  for (const machine of machines as readonly Machine[]) {
    const { table, column } = machine.storedIn;
    const present = await rows.query<{ id: string; state: string }>(
      `SELECT id, ${column} AS state FROM ${table}`,
    );
    const reached = new Map<string, string>();
    for (const { entity, from, to } of steps.filter((step) => step.machine === machine.name)) {
      const legal = isState(machine, from) && isState(machine, to) && canTransition(machine, from, to);
      if (!legal) problems.push(`${machine.name} ${entity} went from ${from} to ${to}`);
      const before = reached.get(entity) ?? machine.initial;
      if (before !== from) problems.push(`${machine.name} ${entity} left ${from} while it was ${before}`);
      reached.set(entity, to);
    }
    for (const { id, state } of present) {
      const last = reached.get(id) ?? machine.initial;
      if (last !== state)
        problems.push(`${machine.name} ${id} is ${state}, and its last transition led to ${last}`);
    }
  }
  return problems;
}
