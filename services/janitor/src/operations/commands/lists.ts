import {
  asJson,
  type CommandResult,
  formatMillisecond,
  formatTable,
  isMisused,
  misused,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import {
  type Database,
  listContentBlocks,
  listErasures,
  listLeasesOf,
  listOpenErasures,
  listWorkers,
  listWorkKinds,
  type HeldLease,
  type OpenErasure,
  type Place,
  type Worker,
  type WorkKind,
} from '@pasteflow/postgres';
import { atLeast } from '../reports/counted.ts';
import { timeOf, type OwnCommand } from './command.ts';

const MAX_LISTED_BLOCKS = 1000;

/** The newest blocks that are in force. */
export const blocks: OwnCommand = {
  name: 'blocks',
  help: 'lists the blocks that are in force',
  run: async ({ db }, { json }) => {
    const found = await listContentBlocks(db, MAX_LISTED_BLOCKS);
    if (json) return succeeded(asJson(found));
    if (found.length === 0) return succeeded('No content is blocked.\n');
    const rows = found.map(({ content_hash, class: why, blocked_at, actor, reason }) => [
      content_hash,
      why,
      formatMillisecond(blocked_at),
      actor,
      toOneLine(reason),
    ]);
    return succeeded(formatTable(['CONTENT', 'CLASS', 'SINCE', 'BY', 'WHY'], rows));
  },
};

/** Every kind of work, paused or not. */
export const pauses: OwnCommand = {
  name: 'pauses',
  help: 'lists the kinds of work, paused or not',
  run: async ({ db }, { json }) => {
    const kinds = await listWorkKinds(db);
    return succeeded(json ? asJson(kinds) : kindsText(kinds));
  },
};

function kindsText(kinds: readonly WorkKind[]): string {
  const rows = kinds.map(({ kind, paused_at, paused_by, pause_reason }) => [
    kind,
    paused_at === null ? '-' : formatMillisecond(paused_at),
    paused_by ?? '-',
    toOneLine(pause_reason ?? '-'),
  ]);
  return formatTable(['KIND', 'PAUSED SINCE', 'BY', 'WHY'], rows);
}

/**
 * Of erased users the ids alone, so that a script can erase each. They are no secret, and name nobody. With --open those
 * that are not done, with what is left.
 */
export const erasures: OwnCommand<{ readonly since: Date | null; readonly open: boolean }> = {
  name: 'erasures',
  help: 'lists the ids of erased users, to erase them again after a restore',
  flags: {
    since: ['--since <TIME>', 'leaves earlier ones out, e.g. 2026-11-22T03:00Z'],
    open: ['--open', 'only those that are not done, with what is left'],
  },
  read: (_args, options) => {
    const since = timeOf('since', options);
    if (isMisused(since)) return since;
    const open = options.open === true;
    return open && since !== null
      ? misused('erasures takes --since or --open, and not both')
      : { since, open };
  },
  run: async ({ db }, { since, open, json }) => {
    if (open) return openErasuresAnswer(await readOpenErasures(db), json);
    const found = await listErasures(db, since);
    if (json) return succeeded(asJson(found));
    return succeeded(found.map(({ user_id: id }) => `${id}\n`).join(''));
  },
};

const ERASURE_BATCH = 1000;

async function readOpenErasures(db: Database): Promise<readonly OpenErasure[]> {
  const all: OpenErasure[] = [];
  for (let after: Place | null | undefined; after !== null;) {
    const page = await listOpenErasures(db, { limit: ERASURE_BATCH, after: after ?? null });
    all.push(...page.rows);
    after = page.next;
  }
  return all;
}

function openErasuresAnswer(found: readonly OpenErasure[], json: boolean): CommandResult {
  if (json)
    return succeeded(
      asJson(
        found.map((each) => ({
          user_id: each.userId,
          status: each.status,
          created_at: each.requestedAt,
          pastes: each.pastes,
          jobs: each.jobs,
          pastes_left: each.pastesLeft,
          jobs_left: each.jobsLeft,
        })),
      ),
    );
  if (found.length === 0) return succeeded('No erasure is open.\n');
  const rows = found.map((each) => [
    each.userId,
    each.status,
    formatMillisecond(each.requestedAt),
    `${atLeast(each.pastesLeft)} of ${each.pastes}`,
    `${atLeast(each.jobsLeft)} of ${each.jobs}`,
  ]);
  return succeeded(formatTable(['USER', 'STATE', 'SINCE', '>PASTES LEFT', '>JOBS LEFT'], rows));
}

/** Leases of one worker that are shown. */
const MAX_LEASES = 1000;

/** All that hold leases, or what one of them is doing. */
export const workers: OwnCommand<{ readonly of: string | null }> = {
  name: 'workers',
  takes: '[WORKER]',
  help: 'lists the workers that hold leases; with WORKER shows what it is doing',
  read: ([of = null, ...more]) =>
    more.length > 0 ? misused('workers takes no argument, or the name of a worker') : { of },
  run: async ({ db }, { of, json }) => {
    if (of !== null) return leasesAnswer(await listLeasesOf(db, of, MAX_LEASES), json);
    return workersAnswer(await listWorkers(db), json);
  },
};

function workersAnswer(found: readonly Worker[], json: boolean): CommandResult {
  if (json)
    return succeeded(
      asJson(
        found.map(({ oldestAt, leasedUntil, ...each }) => ({
          ...each,
          oldest_at: oldestAt,
          leased_until: leasedUntil,
        })),
      ),
    );
  if (found.length === 0) return succeeded('No worker holds a lease.\n');
  const rows = found.map((each) => [
    each.worker,
    String(each.uploads),
    String(each.jobs),
    String(each.deliveries),
    String(each.overdue),
    formatMillisecond(each.oldestAt),
    formatMillisecond(each.leasedUntil),
  ]);
  return succeeded(
    formatTable(
      ['WORKER', '>UPLOADS', '>JOBS', '>DELIVERIES', '>OVERDUE', 'OLDEST SINCE', 'LEASED UNTIL'],
      rows,
    ),
  );
}

function leasesAnswer(held: readonly HeldLease[], json: boolean): CommandResult {
  if (json)
    return succeeded(
      asJson(
        held.map(({ startedAt, leasedUntil, ...each }) => ({
          ...each,
          started_at: startedAt,
          leased_until: leasedUntil,
        })),
      ),
    );
  if (held.length === 0) return succeeded('This worker holds no lease.\n');
  const rows = held.map(({ kind, subject, attempt, startedAt, leasedUntil }) => [
    kind,
    subject,
    String(attempt),
    formatMillisecond(startedAt),
    formatMillisecond(leasedUntil),
  ]);
  return succeeded(formatTable(['KIND', 'CODE OR ID', '>ATTEMPT', 'SINCE', 'LEASED UNTIL'], rows));
}
