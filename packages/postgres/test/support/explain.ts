import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { Client } from 'pg';
import type { Database, Schema } from '../../src/index.ts';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Subplan Name'?: string;
  readonly 'CTE Name'?: string;
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

/**
 * What the statements of a repository function cost: run for real under EXPLAIN ANALYZE in a transaction that
 * is rolled back.
 */
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
  return costOf(plans);
}

export function costOf(plans: readonly PlanNode[]): Cost {
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

/**
 * The pages of a whole statement. The figure of a node includes those of its children. Postgres lists the
 * plan of a CTE beside the plan that reads the CTE, and adds its pages to both: once where the CTE is listed,
 * and again in each CTE Scan that has it computed. What no scan reads, as of a CTE that writes, is computed
 * after the rest, and is only in the plan of the CTE. (A scan whose filter computes a subquery may have the
 * pages of the same CTE once more, so that the scans can have more of them than the CTE.)
 */
function buffersOf(plan: PlanNode): number {
  const nodes = flatten(plan);
  const unread = nodes.filter(isCte).map((cte) => {
    const scans = nodes.filter((node) => `CTE ${node['CTE Name']}` === cte['Subplan Name']);
    return Math.max(0, pagesOf(cte) - sum(scans.map(computedFor)));
  });
  return pagesOf(plan) + sum(unread);
}

/** The pages of a CTE that were read while this scan asked for its rows. */
function computedFor(scan: PlanNode): number {
  const below = (scan.Plans ?? []).filter((child) => !isCte(child));
  return pagesOf(scan) - sum(below.map(pagesOf));
}

function isCte(node: PlanNode): boolean {
  return node['Subplan Name']?.startsWith('CTE ') === true;
}

function pagesOf(node: PlanNode): number {
  return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
