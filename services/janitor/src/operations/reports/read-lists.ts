import { isUuid } from '@pasteflow/domain';
import {
  findNamesOf,
  findUserId,
  listJobsOfAll,
  listPastesOfAll,
  type Database,
  type JobOfAnybody,
  type JobsFilter,
  type ListedPasteState,
  type PageRequest,
  type PasteOfAnybody,
} from '@pasteflow/postgres';
import { encodeCursor } from '@pasteflow/service-kit';

/** A page of a list, each row with the name of its user. */
interface Listed<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null;
}

/** null: nobody, or somebody who is erased. */
interface Owned {
  readonly owner: string | null;
}

export interface AskedPastes {
  readonly state: ListedPasteState;
  /** null: any, as in what follows. */
  readonly title: string | null;
  /** The id of a user. */
  readonly userId: string | null;
}

/** Everybody's pastes, newest first. */
export async function readPastes(
  db: Database,
  asked: AskedPastes,
  page: PageRequest,
): Promise<Listed<PasteOfAnybody & Owned>> {
  const { rows, next } = await listPastesOfAll(db, asked, page);
  const names = await namesOf(
    db,
    rows.map(({ userId }) => userId),
  );
  return {
    rows: rows.map((row) => ({ ...row, owner: names(row.userId) })),
    next: next && encodeCursor(next),
  };
}

/** Everybody's jobs, newest first. */
export async function readJobs(
  db: Database,
  asked: JobsFilter,
  page: PageRequest,
): Promise<Listed<JobOfAnybody & Owned>> {
  const { rows, next } = await listJobsOfAll(db, asked, page);
  const names = await namesOf(
    db,
    rows.map(({ user_id: id }) => id),
  );
  return {
    rows: rows.map((row) => ({ ...row, owner: names(row.user_id) })),
    next: next && encodeCursor(next),
  };
}

async function namesOf(
  db: Database,
  ids: readonly (string | null)[],
): Promise<(id: string | null) => string | null> {
  const found = await findNamesOf(
    db,
    [...new Set(ids)].filter((id) => id !== null),
  );
  return (id) => (id === null ? null : (found.get(id)?.userName ?? id));
}

/** A user by the id or by the exact name; null: there is none. */
export async function findOwner(db: Database, text: string): Promise<string | null> {
  const id = text.toLowerCase();
  return isUuid(id) ? id : await findUserId(db, text);
}
