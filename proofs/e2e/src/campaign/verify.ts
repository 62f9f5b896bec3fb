import { createHash } from 'node:crypto';
import type { Cluster } from '../cluster.ts';
import type { CampaignLoad, Import } from './load.ts';
import { contentOf, itemsOf, titleOf } from './plan.ts';
import type { User } from './user.ts';
import { findWrongTrails } from './verify-trails.ts';

/** Compares the system with the answers of the api. @returns one sentence for each broken promise */
export async function findBrokenPromises(
  cluster: Cluster,
  user: User,
  { pasted, imports }: CampaignLoad,
  seed: number,
): Promise<string[]> {
  return [
    ...(await findWrongContent(cluster, user, pasted, seed)),
    ...(await findDoubles(cluster, imports, seed)),
    ...(await findWrongEnds(cluster, imports)),
    ...(await findWrongTrails(cluster.rows)),
  ];
}

const STATUS_OF = { kept: 200, deleted: 410, 'taken down': 451 } as const;

async function findWrongContent(
  cluster: Cluster,
  user: User,
  pasted: CampaignLoad['pasted'],
  seed: number,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { n, code, fate } of pasted) {
    const { status, body } = await user.read(n, code);
    const isRight = status === STATUS_OF[fate] && (fate !== 'kept' || body.equals(contentOf(seed, n)));
    if (isRight) continue;
    const state = await cluster
      .paste(code)
      .then(({ status, failure_reason: reason }) => `it is ${status}, ${reason}`, String);
    problems.push(`paste ${n}, ${code}, answers ${status} with ${body.length} bytes; ${state}`);
  }
  return problems;
}

const hashOf = (content: string): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** The title of a deleted paste is removed, so its row is not counted. */
async function findDoubles(cluster: Cluster, imports: readonly Import[], seed: number): Promise<string[]> {
  const rows = await cluster.rows.query<{ title: string; count: number; hash: string }>(
    `SELECT title, count(*)::int AS count, min(content_hash) AS hash FROM pastes
     WHERE title LIKE $1 GROUP BY title`,
    [`campaign ${seed} %`],
  );
  const problems = rows
    .filter(({ count }) => count > 1)
    .map(({ title, count }) => `${count} pastes are "${title}"`);
  const hashes = new Map(rows.map(({ title, hash }) => [title, hash]));
  for (const { n, madeBeforeCancel } of imports) {
    const items = itemsOf(seed, n);
    const made = items.filter(({ title, content }) => hashes.get(title) === hashOf(content)).length;
    const promised = madeBeforeCancel ?? items.length;
    if (made !== promised)
      problems.push(`${made} pastes of job ${n} are there with their content, and not ${promised}`);
  }
  if (rows.length === 0) problems.push(`no paste is called like "${titleOf(seed, 1)}"`);
  return problems;
}

/** A job ends as completed. A cancelled one ends as cancelled, although its worker may still have run. */
async function findWrongEnds(cluster: Cluster, imports: readonly Import[]): Promise<string[]> {
  const idsOf = (cancelled: boolean): string[] =>
    imports
      .filter(({ madeBeforeCancel }) => (madeBeforeCancel !== undefined) === cancelled)
      .map(({ id }) => id);
  const rows = await cluster.rows.query<{ id: string; end: string }>(
    `SELECT id, concat_ws(': ', status, error_message) AS "end" FROM jobs
     WHERE id = ANY ($1::uuid[]) AND status <> 'completed'
       OR id = ANY ($2::uuid[]) AND (status NOT IN ('failed', 'partial') OR error_message NOT LIKE 'cancelled%')`,
    [idsOf(false), idsOf(true)],
  );
  return rows.map(
    ({ id, end }) => `job ${id} ${idsOf(true).includes(id) ? 'was cancelled and ' : ''}is ${end}`,
  );
}
