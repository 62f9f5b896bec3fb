import { Migrator } from 'kysely/migration';
import type { Database } from './database/database.ts';
import { installStateMachines } from './enforcement/install.ts';
import { migrations } from './migrations/all.ts';

/**
 * Applies the pending migrations, then installs the enforcement of the state machines. Safe to run repeatedly
 * and in several processes at once. kysely takes a session lock, so do not migrate through PgBouncer in
 * transaction mode.
 * @returns the names of the applied migrations
 */
export async function migrate(db: Database): Promise<readonly string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error as Error;
  await installStateMachines(db);
  return results.filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
}
