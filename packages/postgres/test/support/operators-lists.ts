import { open } from './database.ts';
import { explain } from './explain.ts';
import { large } from './scale.ts';
import {
  listJobsOfAll,
  listPastesOfAll,
  listUsers,
  listWorkers,
  readInventory,
  type Database,
  type ListedPasteState,
} from '../../src/index.ts';

interface Filled {
  readonly url: string;
  /** The id of the user with most pastes and jobs. */
  readonly owner: string;
}

/** @param maxScanned undefined: that of the services */
type List = (db: Database, filled: Filled, maxScanned?: number) => Promise<unknown>;

const page = { limit: 50, after: null };
const any = { state: 'there', title: null, userId: null } as const;

const pastes =
  (filter: { state?: ListedPasteState; title?: string }): List =>
  (db, _filled, maxScanned) =>
    listPastesOfAll(db, { ...any, ...filter }, page, maxScanned);

const users =
  (text: string | null, hasQuotas = false): List =>
  (db, _filled, maxScanned) =>
    listUsers(
      db,
      { text, after: null, limit: maxScanned === undefined ? 50 : FEW_USERS, hasQuotas },
      maxScanned,
    );

const FEW_USERS = 5;

const NOWHERE = 'in no title and no name';

/** What operators look at, by what it is. A search that finds nothing reads most. */
export const operatorsLists: Readonly<Record<string, List>> = {
  'reading what there is': (db, _filled, limit) =>
    readInventory(db, { hasQuotas: false, ...(limit !== undefined && { limit }) }).catch(() => undefined), // no row under EXPLAIN
  'listing pastes': pastes({}),
  'listing pastes in progress': pastes({ state: 'in_progress' }),
  'listing failed pastes': pastes({ state: 'failed' }),
  'listing deleted pastes': pastes({ state: 'deleted' }),
  'searching pastes by title': pastes({ title: NOWHERE }),
  'searching pastes in progress by title': pastes({ state: 'in_progress', title: NOWHERE }),
  'searching the pastes of a user': (db, { owner }, maxScanned) =>
    listPastesOfAll(db, { ...any, userId: owner, title: NOWHERE }, page, maxScanned),
  'listing users': users(null),
  'listing users under quotas': users(null, true),
  'searching users': users(NOWHERE),
  'listing jobs': (db, _filled, maxScanned) =>
    listJobsOfAll(db, { status: null, jobType: null, userId: null }, page, maxScanned),
  'searching jobs': (db, _filled, maxScanned) =>
    listJobsOfAll(db, { status: 'queued', jobType: NOWHERE, userId: null }, page, maxScanned),
  'searching ended jobs': (db, _filled, maxScanned) =>
    listJobsOfAll(db, { status: 'failed', jobType: NOWHERE, userId: null }, page, maxScanned),
  'listing workers': (db) => listWorkers(db),
};

const FEW = 50;

/** Of a row: itself, its place in the index, and, of an upload in progress, the way from the payload to it; twice. */
const PAGES_OF_ROW = 10;

/** Of a user: 200 pastes, jobs and tokens, each with its place in an index. */
const PAGES_OF_USER = 1000;

/**
 * The pages that a list reads when it may look at `FEW` rows, and the most that it should; a list without a bound reads
 * more than that of `large` rows. Also says how long the list takes with the bound of the services.
 */
export async function costOfList(
  name: string,
  filled: Filled,
): Promise<{ readonly pages: number; readonly most: number }> {
  const list = operatorsLists[name]!;
  const { buffers: pages } = await explain(filled.url, (db) => list(db, filled, FEW));
  const db = open(filled.url, 1);
  await list(db, filled); // loads the pages
  const began = performance.now();
  await list(db, filled);
  const ms = Math.round(performance.now() - began);
  await db.destroy();
  process.stderr.write(
    `${name}: ${pages} pages for ${FEW} of ${large} rows, ${ms} ms with the bound of the services\n`,
  );
  return {
    pages,
    most: FEW * PAGES_OF_ROW + (name.startsWith('listing users') ? (FEW_USERS + 1) * PAGES_OF_USER : 100),
  };
}
