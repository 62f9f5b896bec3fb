import { Migrator } from 'kysely/migration';
import type { Database } from './database/database.ts';
import { installStateMachines } from './enforcement/install.ts';
import { migrations } from './migrations/all.ts';

/**
 * Brings the schema up to date and the database's enforcement of the state machines in line with packages/domain. Safe to run twice
 * and in several processes at once (kysely's migrator takes a session lock, so don't run it through a transaction-mode PgBouncer).
 * @returns the names of the migrations that were applied
 */
export async function migrate(db: Database): Promise<readonly string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error as Error;
  await installStateMachines(db);
  return results.filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
}
