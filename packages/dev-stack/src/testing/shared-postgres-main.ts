// The Postgres that the test files of a package share: prints its URL, and stops it at the end of stdin,
// which also comes when the run of the tests is killed.
import { once } from 'node:events';
import { Client } from 'pg';
import { startTestPostgres } from './test-stack.ts';

process.on('SIGINT', () => {}); // a Ctrl-C in the terminal ends the tests first
const stack = await startTestPostgres();
await vacuumSeldom(stack.postgres.url);
process.stdout.write(`${stack.postgres.url}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await stack.stop();

/**
 * By default autovacuum starts a process for each database and minute, and this server has a hundred
 * databases.
 */
async function vacuumSeldom(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("ALTER SYSTEM SET autovacuum_naptime = '1h'");
    await client.query('SELECT pg_reload_conf()');
  } finally {
    await client.end();
  }
}
