import {
  findEnforcementGaps,
  findRightsGaps,
  findUnsafeSettings,
  type Database,
  type DurabilitySetting,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';

/** @returns how many problems there are; a change of them is logged */
export type CountProblems = () => Promise<number>;

/**
 * Whether the triggers and constraints that enforce the state machines are in place, and the roles of the
 * services have exactly their rights. The owner of the tables can change all of that, and `pg_restore
 * --disable-triggers` leaves the triggers weaker than they were.
 */
export function enforcementCheck(db: Database, logger: Logger): CountProblems {
  return loggingChanges(
    async () => [...(await findEnforcementGaps(db)), ...(await findRightsGaps(db))],
    (gaps) => {
      if (gaps.length === 0) logger.info('state machines enforced again');
      else logger.error('state machines not enforced; run the migration of this version', { gaps });
    },
  );
}

/**
 * Whether Postgres keeps what it has committed: a reload of its settings can change that while the services
 * run.
 */
export function durabilityCheck(
  db: Database,
  logger: Logger,
  mayLoseDataBy: readonly DurabilitySetting[],
): CountProblems {
  return loggingChanges(
    () => findUnsafeSettings(db, mayLoseDataBy),
    (settings) => {
      if (settings.length === 0) logger.info('postgres keeps committed pastes again');
      else logger.error('postgres can lose committed pastes', { settings });
    },
  );
}

function loggingChanges(
  find: () => Promise<readonly string[]>,
  log: (problems: readonly string[]) => void,
): CountProblems {
  let logged = '';
  return async () => {
    const problems = await find();
    const found = problems.join(', ');
    if (found !== logged) log(problems);
    logged = found;
    return problems.length;
  };
}
