import { findAlive, type ExportablePaste, type ExportFilter, type Place } from '@pasteflow/postgres';
import { readContentOrReason, type Content } from '../../read-content.ts';
import type { JobServices } from '../../job-type.ts';
import { readAhead } from './read-ahead.ts';
import { selectPastes } from './select-pastes.ts';

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
