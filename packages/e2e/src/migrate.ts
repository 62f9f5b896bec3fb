import { spawnService } from '@pasteflow/dev-stack/testing';
import { MIGRATE_ENTRY } from './entries.ts';

/** Runs `npm run migrate` on the database. */
export async function migrate(databaseUrl: string): Promise<void> {
  const process = spawnService({ entry: MIGRATE_ENTRY, env: { DATABASE_URL: databaseUrl }, name: 'migrate' });
  const { code } = await process.exited;
  if (code !== 0) throw new Error(`the migration ended with ${code}:\n${process.stderr.join('\n')}`);
}
