import { SpanKind } from '@opentelemetry/api';
import { DependencyUnavailableError } from '@pasteflow/domain';
import {
  findPaste,
  findPasteBySlug,
  findPastes,
  findPastesBySlug,
  type Database,
  type PasteRow,
} from '@pasteflow/postgres';
import { Groups, withSpan } from '@pasteflow/runtime';

const SPAN = { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql' } };

/**
 * Finds pastes by their short codes or their slugs, in groups when many requests arrive at once (ADR 39). A row is never older than the request for it,
 * because a look-up doesn't join a statement that has started.
 */
export class PasteLookups {
  readonly #byCode: Groups<string, PasteRow | null>;
  readonly #bySlug: Groups<string, PasteRow | null>;

  /** @param slowMs see GroupsOptions */
  constructor(db: Database, { slowMs }: { readonly slowMs?: number | undefined } = {}) {
    const options = { refusal: () => new DependencyUnavailableError('postgres'), slowMs };
    this.#byCode = new Groups({ run: (shortCodes) => find(db, shortCodes), ...options });
    this.#bySlug = new Groups({ run: (slugs) => findBySlug(db, slugs), ...options });
  }

  /** The paste with this short code, in any state; null: there is none. */
  async find(shortCode: string): Promise<PasteRow | null> {
    return await withSpan('SELECT pastes', SPAN, () => this.#byCode.call(shortCode));
  }

  /** The paste with this slug, in any state; null: there is none. */
  async findBySlug(slug: string): Promise<PasteRow | null> {
    return await withSpan('SELECT pastes', SPAN, () => this.#bySlug.call(slug));
  }

  /** Refuses the look-ups that wait for their group. */
  stop(): void {
    this.#byCode.stop();
    this.#bySlug.stop();
  }
}

async function find(db: Database, shortCodes: readonly string[]): Promise<(PasteRow | null)[]> {
  const [first] = shortCodes;
  if (shortCodes.length === 1 && first !== undefined) return [await findPaste(db, first)];
  const found = await findPastes(db, shortCodes);
  return shortCodes.map((shortCode) => found.get(shortCode) ?? null);
}

async function findBySlug(db: Database, slugs: readonly string[]): Promise<(PasteRow | null)[]> {
  const [first] = slugs;
  if (slugs.length === 1 && first !== undefined) return [await findPasteBySlug(db, first)];
  const found = await findPastesBySlug(db, slugs);
  return slugs.map((slug) => found.get(slug) ?? null);
}
