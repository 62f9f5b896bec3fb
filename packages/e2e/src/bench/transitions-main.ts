import { Pool } from 'pg';

/**
 * Claims of single executions, each a transaction of its own, on 32 connections: how many transitions
 * Postgres commits a second. Arguments: the database URL, and the table. Needs waiting uploads that no worker
 * claims. The last line on stdout is the number of transitions a second.
 */
const LANES = 32;
const [connectionString = '', table = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString, max: LANES });
await Promise.all(Array.from({ length: LANES }, () => pool.query('SELECT pg_sleep(0.1)')));
const { rows } = await pool.query<{ id: string }>(
  `SELECT id FROM ${table} WHERE status = 'PENDING' AND kind = 'upload'`,
);
const claim = `UPDATE ${table} SET status = 'RUNNING', worker_id = 'bench', started_at = now(), dispatched_at = now(),
  lease_expires_at = now() + interval '1 second' WHERE id = $1`;
let next = 0;
let claimed = 0;
const lane = async (): Promise<void> => {
  for (let row = rows[next++]; row !== undefined; row = rows[next++]) {
    const { rowCount } = await pool.query({ name: 'claim', text: claim, values: [row.id] });
    claimed += rowCount ?? 0;
  }
};
const startedAt = performance.now();
await Promise.all(Array.from({ length: LANES }, lane));
const seconds = (performance.now() - startedAt) / 1000;
await pool.end();
process.stdout.write(`${claimed / seconds}\n`);
