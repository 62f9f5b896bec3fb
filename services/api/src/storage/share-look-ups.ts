import { SpanKind } from '@opentelemetry/api';
import {
  findPastes,
  isTimeout,
  mayBeOfOneRow,
  useApiTokens,
  type ApiTokenUse,
  type Database,
  type PasteRow,
} from '@pasteflow/postgres';
import { Batcher, withSpan } from '@pasteflow/runtime';

const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

/** See BatcherOptions; a statement takes a millisecond. */
const SLOW_MS = 250;

type Find<Found> = (key: string) => Promise<Found | null>;

/** Finds pastes by their short codes, in any state; null: there is none. */
export function createFindPaste(db: Database, slowMs?: number): Find<PasteRow> {
  return shareLookUps('SELECT pastes', (shortCodes) => findPastes(db, shortCodes), slowMs);
}

/** Finds tokens and sessions by their hashes in hex, and records their use; null: there is none. */
export function createUseToken(db: Database, slowMs?: number): Find<ApiTokenUse> {
  const use = (hashes: readonly string[]) =>
    useApiTokens(
      db,
      hashes.map((hash) => Buffer.from(hash, 'hex')),
    );
  return shareLookUps('UPDATE api_tokens', use, slowMs);
}

/**
 * What is asked for while a statement runs shares the next one, so that nothing is older than its request. A
 * token that was revoked before a request is refused.
 */
function shareLookUps<Found>(
  span: string,
  find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
  slowMs = SLOW_MS,
): Find<Found> {
  const together = new Batcher<string, Found | null>({
    run: async (keys) => {
      const found = await find(keys);
      return keys.map((key) => found.get(key) ?? null);
    },
    maxItems: 1000,
    slowMs,
    canRunAlone: (error) => mayBeOfOneRow(error) && !isTimeout(error),
  });
  return (key) => withSpan(span, SPAN, () => together.call(key));
}
