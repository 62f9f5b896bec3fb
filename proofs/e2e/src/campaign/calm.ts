import type { Cluster } from '../cluster.ts';
import type { User } from './user.ts';

/** A defect that drops one settlement in fifty drops four of these. */
const PASTES = 200;
const LANES = 6;
/** Beyond the numbers of all other pastes. */
const FIRST_BATCH = 200_000_000;
const SECOND_BATCH = 300_000_000;
const REFUSED_BATCH = 600_000_000;
const REFUSED = 20;

/**
 * After the faults, nothing fails: each upload takes one execution. Otherwise something loses work that a
 * retry then repairs, which no other check sees. A busy machine may stop a process for longer than its lease,
 * so only what happens twice is a violation.
 * @returns one sentence for each violation
 */
export async function findLossesInCalm(cluster: Cluster, user: User): Promise<string[]> {
  const losses = await lossesOfBatch(cluster, user, FIRST_BATCH);
  return losses.length === 0 ? [] : await lossesOfBatch(cluster, user, SECOND_BATCH);
}

async function lossesOfBatch(cluster: Cluster, user: User, first: number): Promise<string[]> {
  const codes: string[] = [];
  let next = first;
  const lane = async (): Promise<void> => {
    while (next < first + PASTES) codes.push(await user.create(next++, { wait: true }));
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

/**
 * S3 refuses some puts, and nothing else fails: the message of a failed attempt returns to its queue. The relay
 * sends no second one, as it does half a minute later when a message is lost.
 * @returns one sentence for each violation
 */
export async function findLostMessages(cluster: Cluster, user: User): Promise<string[]> {
  cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 }, REFUSED);
  const creations = Array.from({ length: REFUSED }, (_, n) => user.create(REFUSED_BATCH + n));
  const codes = await Promise.all(creations);
  await Promise.all(codes.map((code) => cluster.untilStatus(code, 'PROCESSED', { within: 300_000 })));
  const lost = await cluster.rows.query<{ code: string; attempt: number }>(
    `SELECT short_code AS code, attempt FROM pastes p JOIN task_executions e ON e.subject_id = p.id
     WHERE short_code = ANY ($1) AND attempt > 1 AND dispatched_at > e.created_at + interval '10 s'`,
    [codes],
  );
  return lost.map(({ code, attempt }) => `the message of attempt ${attempt} of paste ${code} was lost`);
}
