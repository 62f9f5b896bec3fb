import {
  type Database,
  type ExportablePaste,
  type ExportFilter,
  findAlive,
  listExportable,
  type Place,
} from '@pasteflow/postgres';
import { type Content, readContentOrReason } from '../../read-content.ts';
import type { JobServices } from '../../job-type.ts';
import type { ExportedFile } from './archive-formats.ts';

/** What becomes of a paste. `left_out`: it is deleted when it is read, and an export would be its one read. */
export type Outcome = { readonly paste: ExportablePaste } & (Content | { readonly kind: 'left_out' });

/**
 * A paste is checked again when this time has passed before its turn to be written, because S3 took the ones
 * before it slowly.
 */
const MAX_CHECK_AGE_MS = 1000;

/**
 * The pastes of an export with their content, oldest first, behind a place (null: from the start).
 * @throws DependencyUnavailableError, or the signal's reason
 */
export async function* outcomesOf(
  services: JobServices,
  filter: ExportFilter,
  after: Place | null,
  signal: AbortSignal,
): AsyncGenerator<Outcome, undefined> {
  const pastes = selectPastes(services.db, filter, after, signal);
  const read = readAhead(
    pastes,
    async (paste, stop) =>
      paste.burn ? ({ kind: 'left_out' } as const) : await readContentOrReason(services, paste, stop),
    signal,
  );
  for await (const group of read) {
    let alive: ReadonlySet<string> = new Set();
    let checkedAt = Number.NEGATIVE_INFINITY;
    for (const [n, { item: paste, result }] of group.entries()) {
      if (result.kind !== 'content') {
        yield { paste, ...result };
        continue;
      }
      // The paste was listed long before, and its content was read ahead: it may be gone.
      if (performance.now() - checkedAt > MAX_CHECK_AGE_MS) {
        checkedAt = performance.now();
        alive = await findAlive(
          services.db,
          group.slice(n).map(({ item }) => item.shortCode),
        );
      }
      yield alive.has(paste.shortCode) ? { paste, ...result } : { paste, kind: 'gone' };
    }
  }
}

/** Rows per page: some milliseconds of an index scan, all in memory. */
const PAGE_PASTES = 500;

/**
 * Yields the pastes of an export, oldest first, behind a place (null: from the start). Reads them in pages.
 * FAILED pastes have no content and read as not found, so they are exported only when the filter asks for
 * them.
 * @throws the signal's reason
 */
async function* selectPastes(
  db: Database,
  filter: ExportFilter,
  from: Place | null,
  signal: AbortSignal,
): AsyncGenerator<ExportablePaste> {
  let after = from;
  do {
    signal.throwIfAborted(); // many pages may contain no paste of the export
    const page: Awaited<ReturnType<typeof listExportable>> = await listExportable(db, filter, {
      limit: PAGE_PASTES,
      after,
    });
    for (const paste of page.rows) if (paste.status !== 'FAILED' || filter.status === 'FAILED') yield paste;
    after = page.next;
  } while (after !== null);
}

/** The files of an export, one by one, until the worker stops. */
export class PasteFiles {
  readonly #outcomes: AsyncIterator<Outcome>;
  readonly #stopping: AbortSignal;
  readonly #onOutcome: (outcome: Outcome) => void;
  #hasEnded = false;

  /** @param onOutcome called for each paste that has had its turn, with or without a file */
  constructor(
    outcomes: AsyncIterator<Outcome>,
    stopping: AbortSignal,
    onOutcome: (outcome: Outcome) => void,
  ) {
    this.#outcomes = outcomes;
    this.#stopping = stopping;
    this.#onOutcome = onOutcome;
  }

  /** No paste is left. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @returns null when no paste is left, or the worker stops. A paste that is read meanwhile has no turn then. */
  async next(): Promise<ExportedFile | null> {
    while (!this.#hasEnded) {
      const outcome = await this.#nextOutcome();
      if (outcome === null) return null;
      this.#onOutcome(outcome);
      if (outcome.kind === 'content') return { paste: outcome.paste, content: outcome.content };
    }
    return null;
  }

  async #nextOutcome(): Promise<Outcome | null> {
    if (this.#stopping.aborted) return null;
    const stopped = Promise.withResolvers<null>();
    const stop = (): void => stopped.resolve(null);
    this.#stopping.addEventListener('abort', stop, { once: true });
    try {
      const next = await Promise.race([this.#outcomes.next(), stopped.promise]);
      if (next === null) return null;
      this.#hasEnded = next.done === true;
      return next.done === true ? null : next.value;
    } finally {
      this.#stopping.removeEventListener('abort', stop);
    }
  }
}

/**
 * Limits of concurrent reads, because S3 takes tens of milliseconds for each: their number, and the sum of
 * their sizes. At least one runs.
 */
const MAX_READS_AHEAD = 8;
const MAX_BYTES_AHEAD = 16 * 1024 * 1024;

/** Half of the reads: the other half runs while a group is written. */
const MAX_GROUP = MAX_READS_AHEAD / 2;

interface Read<Item, Result> {
  readonly item: Item;
  readonly result: Result;
}

interface Reading<Item, Result> {
  readonly item: Item;
  readonly result: Promise<Result>;
  /** The result is there. */
  isDone: boolean;
}

/**
 * Yields the items with the results of `read`, in order, while the next items are being read: in each group
 * those whose results are there. Leaving the loop aborts the running reads.
 * @throws the first error of a read, in the order of the items
 */
async function* readAhead<Item extends { readonly sizeBytes: number }, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item, signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): AsyncGenerator<readonly Read<Item, Result>[]> {
  const left = new AbortController();
  const stop = AbortSignal.any([signal, left.signal]);
  const ahead: Reading<Item, Result>[] = [];
  let bytes = 0;
  const source = items[Symbol.asyncIterator]();
  try {
    let next = await source.next();
    while (next.done !== true || ahead.length > 0) {
      while (next.done !== true && hasRoom(ahead.length, bytes + next.value.sizeBytes)) {
        const item = next.value;
        const reading: Reading<Item, Result> = { item, result: read(item, stop), isDone: false };
        // An error is thrown when its turn comes; after an earlier error it is ignored.
        reading.result.then(
          () => (reading.isDone = true),
          () => {},
        );
        ahead.push(reading);
        bytes += item.sizeBytes;
        next = await source.next();
      }
      await ahead[0]?.result;
      const group: Read<Item, Result>[] = [];
      while (ahead[0]?.isDone === true && group.length < MAX_GROUP) {
        const { item, result } = ahead.shift() as Reading<Item, Result>;
        group.push({ item, result: await result });
      }
      yield group;
      for (const { item } of group) bytes -= item.sizeBytes;
    }
  } finally {
    left.abort();
    await source.return?.();
  }
}

function hasRoom(reads: number, bytes: number): boolean {
  return reads === 0 || (reads < MAX_READS_AHEAD && bytes <= MAX_BYTES_AHEAD);
}
