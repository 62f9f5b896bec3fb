import { createHash, randomBytes } from 'node:crypto';
import { Pool, type QueryResultRow } from 'pg';

/** Direct access to the tables, without the proxies and the services. */
export class Rows {
  readonly #pool: Pool;

  constructor(databaseUrl: string) {
    this.#pool = new Pool({ connectionString: databaseUrl, max: 4, connectionTimeoutMillis: 10_000 });
    this.#pool.on('error', () => {}); // a test may restart Postgres; the next query opens a new connection
  }

  async query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, values)).rows;
  }

  /**
   * Opens a transaction that sees the rows as they are now, and is idle from then on. @returns a function that
   * ends the transaction
   */
  async holdSnapshot(): Promise<() => Promise<void>> {
    const client = await this.#pool.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT 1');
    return async () => {
      await client.query('ROLLBACK');
      client.release();
    };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

export interface PasteRow {
  readonly id: string;
  readonly short_code: string;
  readonly status: string;
  readonly deletion_status: string;
  readonly content_hash: string;
  readonly size_bytes: number;
  readonly s3_url: string | null;
  readonly failure_reason: string | null;
}

export interface ExecutionRow {
  readonly id: string;
  readonly attempt: number;
  /** How often the work was lost before. */
  readonly losses: number;
  readonly status: string;
  readonly worker_id: string | null;
  readonly run_at: Date;
  readonly dispatched_at: Date | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly error: string | null;
}

export interface AssetRow {
  readonly job_id: string;
  readonly asset_type: string;
  readonly storage_path: string;
  /** A bigint, which pg returns as text. */
  readonly file_size: string;
}

export interface Credentials {
  readonly userId: string;
  readonly token: string;
}

/** Inserts a new token of the user with this name, who is created if missing. */
export async function makeToken(rows: Rows, name: string): Promise<Credentials> {
  const token = `pf_${randomBytes(32).toString('base64url')}`;
  const [user] = await rows.query<{ id: string }>(
    `INSERT INTO users (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`,
    [name],
  );
  const userId = user?.id ?? '';
  const hash = createHash('sha256').update(token).digest();
  await rows.query(`INSERT INTO api_tokens (user_id, name, token_hash) VALUES ($1, 'e2e', $2)`, [
    userId,
    hash,
  ]);
  return { userId, token };
}
