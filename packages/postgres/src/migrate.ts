import { Migrator } from 'kysely/migration';
import type { Database } from './database/database.ts';
import { installStateMachines } from './enforcement/install.ts';
import { migrations } from './migrations/all.ts';
import { createRoles, type RolePasswords } from './roles/create-roles.ts';
import { grantRights } from './roles/grant-rights.ts';
import { takeOwnership } from './roles/take-ownership.ts';

export interface MigrateOptions {
  readonly passwords?: RolePasswords;
  /** Called with each thing that an administrator still has to do, as a sentence. */
  readonly onNotice?: (notice: string) => void;
}

/**
 * Applies the pending migrations, then installs the enforcement of the state machines and the rights of the
 * services' roles. Safe to run repeatedly and in several processes at once. kysely takes a session lock, so do
 * not migrate through PgBouncer in transaction mode.
 * @returns the names of the applied migrations
 */
export async function migrate(
  db: Database,
  { passwords = {}, onNotice = () => {} }: MigrateOptions = {},
): Promise<readonly string[]> {
  for (const notice of await createRoles(db, passwords)) onNotice(notice);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  for (const { name, executedAt } of await migrator.getMigrations())
    if (executedAt === undefined) await migrations[name]?.before?.(db);
  const applied = await applyPending(migrator);
  await takeOwnership(db);
  await installStateMachines(db);
  await grantRights(db);
  return applied;
}

/**
 * Each migration is a transaction of its own. In one transaction, a migration would wait for a table while it keeps the locks of those
 * before it, and could deadlock with a statement of a service.
 */
async function applyPending(migrator: Migrator): Promise<readonly string[]> {
  const applied: string[] = [];
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp();
    if (error !== undefined) throw error as Error;
    if (results.length === 0) return applied;
    applied.push(...results.map(({ migrationName }) => migrationName));
  }
}
