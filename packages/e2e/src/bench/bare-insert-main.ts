import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { PASTE_BYTES } from './load-job.ts';

/** Inserts of a paste's bytes into a table without indexes, ten at a time. Arguments: database URL, count. */
const [connectionString = '', count = '0'] = process.argv.slice(2);
const LANES = 10;
const pool = new Pool({ connectionString, max: LANES });
await pool.query('CREATE TABLE IF NOT EXISTS bench_control (id bigserial, content bytea)');
let left = Number(count);
const lane = async (): Promise<void> => {
  while (left-- > 0)
    await pool.query('INSERT INTO bench_control (content) VALUES ($1)', [randomBytes(PASTE_BYTES)]);
};
await Promise.all(Array.from({ length: LANES }, lane));
await pool.query('DROP TABLE bench_control');
await pool.end();
