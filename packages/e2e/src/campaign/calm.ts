import { randomBytes } from 'node:crypto';
import type { PasteflowClient } from '@pasteflow/client';
import type { Cluster } from '../cluster.ts';

/** A defect that drops one settlement in fifty drops four of these. */
const PASTES = 200;
const LANES = 6;

/**
 * After the faults, nothing fails: each upload takes one execution. Otherwise something loses work that a
 * retry then repairs, which no other check sees. A busy machine may stop a process for longer than its lease,
 * so only what happens twice is a violation.
 * @returns one sentence for each violation
 */
export async function findLossesInCalm(cluster: Cluster, client: PasteflowClient): Promise<string[]> {
  const first = await lossesOfBatch(cluster, client);
  return first.length === 0 ? [] : await lossesOfBatch(cluster, client);
}

async function lossesOfBatch(cluster: Cluster, client: PasteflowClient): Promise<string[]> {
  const codes: string[] = [];
  const lane = async (): Promise<void> => {
    while (codes.length < PASTES)
      codes.push((await client.pastes.create(randomBytes(300), { wait: true })).short_code);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const rows = await cluster.rows.query<{ code: string; executions: string }>(
    `SELECT short_code AS code, string_agg(e.status || coalesce(' (' || e.error || ')', ''), ', ' ORDER BY e.created_at) AS executions
     FROM pastes p JOIN task_executions e ON e.subject_id = p.id
     WHERE short_code = ANY ($1) GROUP BY short_code HAVING count(*) > 1`,
    [codes],
  );
  return rows.map(({ code, executions }) => `without any fault, paste ${code} took ${executions}`);
}
