import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { Client, escapeLiteral } from 'pg';
import type { Database, Schema } from '../../src/index.ts';
import { nameOfPrepared } from '../../src/database/prepared.ts';
import { PLANNING } from '../../src/database/planner.ts';
import { costOf, type Cost, type PlanNode } from './explain.ts';

/**
 * A connection that keeps one plan for all parameters of each prepared statement, from its first execution
 * on.
 */
export class KeptPlans {
  readonly #client: Client;
  readonly #db: Database;
  readonly #names = new Set<string>();
  readonly #plans: PlanNode[] = [];

  private constructor(client: Client) {
    this.#client = client;
    const pool = {
      connect: () => Promise.resolve({ query: this.#query, release: () => {} }),
      end: () => client.end(),
      options: {},
    };
    this.#db = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }),
    });
  }

  static async connect(url: string): Promise<KeptPlans> {
    const client = new Client({ connectionString: url, options: PLANNING });
    await client.connect();
    await client.query('SET plan_cache_mode = force_generic_plan');
    return new KeptPlans(client);
  }

  /**
   * What a repository function costs with the plans that the connection has kept; what it changes is rolled
   * back.
   */
  async explain(run: (db: Database) => Promise<unknown>): Promise<Cost> {
    this.#plans.length = 0;
    await this.#client.query('BEGIN');
    await run(this.#db);
    await this.#client.query('ROLLBACK');
    return costOf(this.#plans);
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  readonly #query = async (text: string, values: readonly unknown[]) => {
    const name = nameOfPrepared(text);
    if (name === undefined) throw new Error(`this statement is not prepared: ${text}`);
    if (!this.#names.has(name)) await this.#client.query(`PREPARE ${name} AS ${text}`);
    this.#names.add(name);
    const parameters = values.length === 0 ? '' : `(${values.map(literalOf).join(', ')})`;
    const { rows } = await this.#client.query(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name}${parameters}`,
    );
    this.#plans.push((rows as { 'QUERY PLAN': [{ Plan: PlanNode }] }[])[0]!['QUERY PLAN'][0].Plan);
    return { command: 'SELECT', rowCount: 0, rows: [] };
  };
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (Array.isArray(value)) return escapeLiteral(`{${value.map(elementOf).join(',')}}`);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return escapeLiteral(`${value}`);
  throw new TypeError(`there is no literal for a ${typeof value}`);
}

function elementOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return JSON.stringify(`${value}`);
  throw new TypeError(`there is no literal for a ${typeof value}`);
}
