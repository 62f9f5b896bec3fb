import { createDatabase } from './database/database.ts';
import { migrate } from './migrate.ts';

/** `npm run migrate`: brings the schema of DATABASE_URL up to date. */
async function main(): Promise<number> {
  const url = process.env.DATABASE_URL;
  if (!url) {
    process.stderr.write(
      'DATABASE_URL is not set: give the Postgres to migrate, e.g. postgres://user:password@127.0.0.1:5432/pasteflow\n',
    );
    return 78;
  }
  const db = createDatabase({
    url,
    applicationName: 'pasteflow-migrate',
    maxConnections: 2,
    statementTimeoutMs: 0,
    onConnectionError: (error) => process.stderr.write(`${error.message}\n`),
  });
  try {
    const applied = await migrate(db);
    process.stdout.write(
      applied.length > 0 ? `migrated: ${applied.join(', ')}\n` : 'the schema is up to date\n',
    );
    return 0;
  } catch (error) {
    process.stderr.write(`the migration failed: ${inWords(error)}\n`);
    return 1;
  } finally {
    await db.destroy();
  }
}

/** With its causes: a typed error says which dependency, its cause what that said. */
function inWords(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${inWords(error.cause)})`;
}

process.exitCode = await main();
