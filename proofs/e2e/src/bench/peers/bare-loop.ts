import { Pool, type PoolClient } from 'pg';
import { BATCH, CONNECTIONS, CONSUMERS, type PeerOptions, type PeerQueue } from './peer-queue.ts';

/** As many jobs at a time as the others have. */
const JOBS_OF_A_LANE = (CONSUMERS * BATCH) / CONNECTIONS;
const PAUSE_MS = 100;

/**
 * The floor: what anybody would write first. Each connection locks rows, works and deletes them in one
 * transaction, which a crash rolls back.
 */
export async function bareLoop({ databaseUrl, put }: Omit<PeerOptions, 'folder'>): Promise<PeerQueue> {
  const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS });
  await pool.query('CREATE TABLE jobs (id bigserial PRIMARY KEY, text text NOT NULL)');
  return {
    fill: async (texts) =>
      void (await pool.query('INSERT INTO jobs (text) SELECT unnest($1::text[])', [texts])),
    work: async () => {
      const stop = new AbortController();
      const lanes = Array.from({ length: CONNECTIONS }, () => workUntil(pool, stop.signal, put));
      return async () => {
        stop.abort();
        await Promise.all(lanes);
      };
    },
  };
}

async function workUntil(pool: Pool, stop: AbortSignal, put: PeerOptions['put']): Promise<void> {
  const client = await pool.connect();
  while (!stop.aborted)
    if ((await workOnce(client, put)) === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  client.release();
}

async function workOnce(client: PoolClient, put: PeerOptions['put']): Promise<number> {
  await client.query('BEGIN');
  const { rows } = await client.query<{ id: string; text: string }>({
    name: 'lock',
    text: 'SELECT id, text FROM jobs ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED',
    values: [JOBS_OF_A_LANE],
  });
  await Promise.all(rows.map(({ text }) => put(text)));
  const ids = rows.map(({ id }) => id);
  await client.query({ name: 'done', text: 'DELETE FROM jobs WHERE id = ANY ($1)', values: [ids] });
  await client.query('COMMIT');
  return rows.length;
}
