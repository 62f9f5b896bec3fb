import {
  findEnforcementGaps,
  findRightsGaps,
  findSnapshotHolders,
  findUnsafeSettings,
  snapshotHolderKinds,
  type Database,
  type DurabilitySetting,
  type SnapshotHolder,
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

/** The snapshot of each kind that has been held longest. 0 seconds, without a name: none for a minute. */
export type ReadHeldSnapshots = () => Promise<
  readonly (Pick<SnapshotHolder, 'kind' | 'name'> & { readonly seconds: number })[]
>;

/** Each name becomes a label: not that of every transaction. */
const NAMED_AFTER_SECONDS = 60;
const LOGGED_AFTER_SECONDS = 600;

/**
 * Watches how long each snapshot is held, because Postgres says that neither of a slot nor, without further
 * rights, of the session of another role. A janitor that starts begins anew.
 */
export function heldSnapshots(db: Database, logger: Logger, nowMs: () => number): ReadHeldSnapshots {
  let since = new Map<string, number>();
  let logged = new Set<string>();
  return async () => {
    const holders = await findSnapshotHolders(db);
    const now = nowMs();
    const sinceOf = (holder: SnapshotHolder) => since.get(JSON.stringify(holder)) ?? now;
    since = new Map(holders.map((holder) => [JSON.stringify(holder), sinceOf(holder)]));
    const held = holders
      .map((holder) => ({ ...holder, seconds: (now - sinceOf(holder)) / 1000 }))
      .toSorted((a, b) => b.seconds - a.seconds);
    const old = new Map(
      held
        .filter(({ seconds }) => seconds >= LOGGED_AFTER_SECONDS)
        .map(({ kind, name, pid }) => [`${kind} ${name} ${pid}`, { holder: kind, name, pid }]),
    );
    for (const [who, fields] of old) if (!logged.has(who)) logger.warn('old snapshot held', fields);
    logged = new Set(old.keys());
    return snapshotHolderKinds.map((kind) => {
      const oldest = held.find((each) => each.kind === kind && each.seconds >= NAMED_AFTER_SECONDS);
      return { kind, name: oldest?.name ?? '', seconds: oldest?.seconds ?? 0 };
    });
  };
}
