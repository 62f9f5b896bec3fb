import { SpanKind } from '@opentelemetry/api';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { findPaste, findPastes, type Database, type PasteRow } from '@pasteflow/postgres';
import { Groups, withSpan } from '@pasteflow/runtime';

const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

/**
 * Finds pastes by their short codes, in groups when many requests arrive at once (ADR 39). A row is never older than the request for it,
 * because a look-up doesn't join a statement that has started.
 */
export class PasteLookups {
  readonly #groups: Groups<string, PasteRow | null>;

  /** @param slowMs see GroupsOptions */
  constructor(db: Database, { slowMs }: { readonly slowMs?: number | undefined } = {}) {
    this.#groups = new Groups({
      run: (shortCodes) => find(db, shortCodes),
      refusal: () => new DependencyUnavailableError('postgres'),
      slowMs,
    });
  }

  /** The paste with this short code, in any state; null: there is none. */
  async find(shortCode: string): Promise<PasteRow | null> {
    return await withSpan('SELECT pastes', SPAN, () => this.#groups.call(shortCode));
  }

  /** Refuses the look-ups that wait for their group. */
  stop(): void {
    this.#groups.stop();
  }
}

async function find(db: Database, shortCodes: readonly string[]): Promise<(PasteRow | null)[]> {
  const [first] = shortCodes;
  if (shortCodes.length === 1 && first !== undefined) return [await findPaste(db, first)];
  const found = await findPastes(db, shortCodes);
  return shortCodes.map((shortCode) => found.get(shortCode) ?? null);
}
