import { createHash } from 'node:crypto';
import type { Cluster } from '../cluster.ts';
import { contentOf, itemsOf, JOB_EVERY, titleOf, type CampaignLoad } from './load.ts';

interface Counted {
  readonly title: string;
  readonly count: number;
}

const hashOf = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Compares the system with the answers of the api. @returns one sentence for each broken promise */
export async function findBrokenPromises(
  cluster: Cluster,
  { pasted, jobs, cancelled }: CampaignLoad,
  { seed, pastes }: { seed: number; pastes: number },
): Promise<string[]> {
  return [
    ...(await findWrongContent(cluster, pasted, seed)),
    ...(await findDoubles(cluster, { seed, pastes, cancelled })),
    ...(await findUnfinishedJobs(cluster, jobs)),
    ...(await findJobsThatGoOn(
      cluster,
      [...cancelled.values()].map(({ id }) => id),
    )),
  ];
}

async function findWrongContent(
  cluster: Cluster,
  pasted: CampaignLoad['pasted'],
  seed: number,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { n, code, deleted } of pasted) {
    const { status, body } = await cluster.http(n % cluster.apis.length).read(code);
    const isRight = deleted ? status === 410 : status === 200 && body.equals(contentOf(seed, n));
    if (isRight) continue;
    const { status: state, failure_reason: reason } = await cluster.paste(code);
    problems.push(
      `paste ${n}, ${code}, answers ${status} with ${body.length} bytes; it is ${state}, ${reason}`,
    );
  }
  return problems;
}

/** The title of a deleted paste is removed, so its row is not counted. */
async function findDoubles(
  cluster: Cluster,
  { seed, pastes, cancelled }: { seed: number; pastes: number; cancelled: CampaignLoad['cancelled'] },
): Promise<string[]> {
  const rows = await cluster.rows.query<Counted & { hash: string }>(
    `SELECT title, count(*)::int AS count, min(content_hash) AS hash FROM pastes
     WHERE title LIKE $1 GROUP BY title`,
    [`campaign ${seed} %`],
  );
  const counts = new Map(rows.map((row) => [row.title, row]));
  const problems = rows
    .filter(({ count }) => count > 1)
    .map(({ title, count }) => `${count} pastes are "${title}"`);
  for (let n = JOB_EVERY; n <= pastes; n += JOB_EVERY) {
    const items = itemsOf(seed, n);
    const made = items.filter(({ title, content }) => counts.get(title)?.hash === hashOf(content)).length;
    const promised = cancelled.get(n)?.pastes ?? items.length;
    if (made !== promised)
      problems.push(`${made} pastes of job ${n} are there with their content, and not ${promised}`);
  }
  if (counts.size === 0) problems.push(`no paste is called like "${titleOf(seed, 1)}"`);
  return problems;
}

async function findUnfinishedJobs(cluster: Cluster, jobs: readonly string[]): Promise<string[]> {
  const rows = await cluster.rows.query<{ id: string; status: string; error_message: string | null }>(
    `SELECT id, status, error_message FROM jobs WHERE id = ANY ($1::uuid[]) AND status <> 'completed'`,
    [jobs],
  );
  return rows.map(({ id, status, error_message: error }) => `job ${id} is ${status}: ${error}`);
}

/** A cancelled job ends as cancelled, although its worker may still have run. */
async function findJobsThatGoOn(cluster: Cluster, jobs: readonly string[]): Promise<string[]> {
  const rows = await cluster.rows.query<{ id: string; status: string; error_message: string | null }>(
    `SELECT id, status, error_message FROM jobs
     WHERE id = ANY ($1::uuid[]) AND (status NOT IN ('failed', 'partial') OR error_message NOT LIKE 'cancelled%')`,
    [jobs],
  );
  return rows.map(
    ({ id, status, error_message: error }) => `job ${id} was cancelled and is ${status}: ${error}`,
  );
}
