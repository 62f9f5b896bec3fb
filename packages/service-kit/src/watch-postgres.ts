import {
  findPrivilegedUser,
  findSettingProblems,
  listPausedKinds,
  pingDatabase,
  PRIVILEGED_USER,
  type Database,
} from '@pasteflow/postgres';
import { StartCheck, warnDaily, type Component, type ServiceContext } from '@pasteflow/runtime';
import type { z } from 'zod';
import type { databaseEnv } from './settings.ts';

/**
 * What every service checks of its database: the settings of Postgres before it starts, whether Postgres
 * answers and what is paused for its readiness, and the rights of its role once a day.
 */
export function watchPostgres(
  {
    config,
    readiness,
    logger,
    fail,
  }: Pick<
    ServiceContext<{ readonly database: Pick<z.output<typeof databaseEnv>, 'mayLoseDataBy'> }>,
    'config' | 'readiness' | 'logger' | 'fail'
  >,
  db: Database,
): readonly Component[] {
  const settings = new StartCheck({
    name: 'settings of Postgres',
    findProblems: () => findSettingProblems(db, config.database.mayLoseDataBy),
    fail,
  });
  readiness.addCheck('postgres', async () => {
    await pingDatabase(db);
    settings.requirePassed();
  });
  readiness.showPaused(() => listPausedKinds(db));
  return [
    settings,
    warnDaily({
      name: 'database role',
      message: PRIVILEGED_USER,
      find: () => findPrivilegedUser(db),
      logger,
    }),
  ];
}
