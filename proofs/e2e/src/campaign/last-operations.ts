import { createHash } from 'node:crypto';
import type { Cluster } from '../cluster.ts';
import type { Contention } from './contention.ts';
import type { Deposits } from './deposits.ts';
import type { History } from './history.ts';
import type { CampaignLoad } from './load.ts';
import { contentOf, depositKeyOf, depositOf, itemsOf, keyOf } from './plan.ts';

/**
 * After the work has ended, the history gets a read of each name, and what the tables say: how many pastes
 * each Idempotency-Key and each import has made.
 */
export async function recordLastOperations(
  cluster: Cluster,
  history: History,
  { contention, deposits, load }: { contention: Contention; deposits: Deposits; load: CampaignLoad },
  seed: number,
): Promise<void> {
  for (const { n, name } of load.names) await contention.readAt(n, name, [0, 4]);
  const keyed = [
    ...load.keyed.map((n) => ({ key: keyOf(seed, n), content: contentOf(seed, n) })),
    ...deposits.keyed.map((n) => ({ key: depositKeyOf(seed, n), content: depositOf(seed, n).content })),
  ].map(({ key, content }) => ({
    hash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    end: history.begin({ op: 'count', key }),
  }));
  const imported = load.imports.map(({ n, id }) => ({
    titles: itemsOf(seed, n).map(({ title }) => title),
    end: history.begin({ op: 'made', job: id }),
  }));
  const byHash = await countsBy(cluster, 'content_hash');
  const byTitle = await countsBy(cluster, 'title');
  for (const { hash, end } of keyed) end({ event: 'ok', count: byHash.get(hash) ?? 0 });
  for (const { titles, end } of imported)
    end({ event: 'ok', count: titles.reduce((sum, title) => sum + (byTitle.get(title) ?? 0), 0) });
}

async function countsBy(cluster: Cluster, column: 'content_hash' | 'title'): Promise<Map<string, number>> {
  const rows = await cluster.rows.query<{ value: string; count: number }>(
    `SELECT ${column} AS value, count(*)::int AS count FROM pastes WHERE ${column} IS NOT NULL GROUP BY 1`,
  );
  return new Map(rows.map(({ value, count }) => [value, count]));
}
