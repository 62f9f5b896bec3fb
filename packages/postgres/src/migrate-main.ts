import { databaseUrlProblem } from './database/pool.ts';
import { createDatabase } from './database/database.ts';
import { migrate } from './migrate.ts';
import { readRolePasswords } from './roles/create-roles.ts';

/**
 * `npm run migrate`: migrates the database at DATABASE_URL, and gives the services' roles the passwords of
 * PASTEFLOW_API_PASSWORD, PASTEFLOW_WORKER_PASSWORD and PASTEFLOW_JANITOR_PASSWORD.
 */
async function main([argument]: readonly string[]): Promise<number> {
  if (argument !== undefined) {
    process.stderr.write('the migration takes no arguments: it migrates the database at DATABASE_URL\n');
    return argument === '--help' || argument === '-h' ? 0 : 64;
  }
  const url = process.env.DATABASE_URL?.trim() ?? '';
  const problem = url === '' ? 'is not set; set it to the database to migrate' : databaseUrlProblem(url);
  if (problem !== null) {
    process.stderr.write(`DATABASE_URL ${problem}\n`);
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
    const applied = await migrate(db, {
      passwords: readRolePasswords(process.env),
      onNotice: (notice) => process.stderr.write(`${notice}\n`),
    });
    process.stdout.write(
      applied.length > 0 ? `migrated: ${applied.join(', ')}\n` : 'the schema is up to date\n',
    );
    return 0;
  } catch (error) {
    process.stderr.write(`the migration failed: ${describeWithCauses(error)}\n`);
    return 1;
  } finally {
    await db.destroy();
  }
}

/**
 * The message with those of its causes: a typed error names the dependency, and its cause has the details.
 */
function describeWithCauses(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${describeWithCauses(error.cause)})`;
}

// A migration goes on, and has succeeded, also when nobody can read what it prints.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exitCode = await main(process.argv.slice(2));
