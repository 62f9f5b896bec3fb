import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { Client } from 'pg';
import type { Database, Schema } from '../../src/index.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

export interface Cost {
  /** Pages looked at, from memory or disk, by all nodes of all statements. */
  readonly buffers: number;
  readonly statements: number;
  /** Tables of more than 500 rows that were read from end to end. */
  readonly scanned: readonly string[];
}

/** What the statements of a repository function cost: run for real under EXPLAIN ANALYZE in a transaction that is rolled back. */
export async function explain(url: string, run: (db: Database) => Promise<unknown>): Promise<Cost> {
  const plans: PlanNode[] = [];
  const client = new Client({ connectionString: url });
  await client.connect();
  const query = async (text: string, values: readonly unknown[]) => {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, [...values]);
    plans.push((rows as { 'QUERY PLAN': [{ Plan: PlanNode }] }[])[0]!['QUERY PLAN'][0].Plan);
    return { command: 'SELECT', rowCount: 0, rows: [] };
  };
  const explaining = {
    connect: () => Promise.resolve({ query, release: () => {} }),
    end: () => Promise.resolve(),
    options: {},
  };
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: explaining as unknown as PostgresPool }),
  });
  try {
    for (const _ of ['to warm the catalogue caches', 'to measure']) {
      plans.length = 0;
      await client.query('BEGIN');
      await run(db);
      await client.query('ROLLBACK');
    }
  } finally {
    await client.end();
  }
  return {
    buffers: plans.reduce((sum, plan) => sum + buffersOf(plan), 0),
    statements: plans.length,
    scanned: plans
      .flatMap(flatten)
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .filter((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) > 500)
      .flatMap((node) => node['Relation Name'] ?? []),
  };
}

function flatten(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}

/** A node's figure has its children's in it, but for a CTE that ran on behalf of another node. */
function buffersOf(plan: PlanNode): number {
  const children = plan.Plans ?? [];
  const all = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  const ofChildren = children.reduce((sum, c) => sum + c['Shared Hit Blocks'] + c['Shared Read Blocks'], 0);
  return Math.max(0, all - ofChildren) + children.reduce((sum, child) => sum + buffersOf(child), 0);
}
