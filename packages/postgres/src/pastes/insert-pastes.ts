import { sql, type RawBuilder } from 'kysely';
import {
  defaultOf,
  optionOf,
  storedOptionNames,
  type ChosenOptions,
  type StoredOption,
} from '@pasteflow/domain';
import { insertedPasteColumns } from '../schema/pastes.ts';

export interface NewPaste extends ChosenOptions {
  /** The owner; null: anonymous. */
  readonly userId: string | null;
  readonly shortCode: string;
  readonly content: Buffer;
  /** `sha256:` and 64 hex digits. */
  readonly contentHash: string;
  readonly deleteTokenHash: Buffer | null;
  /** Whether quotas count the paste. Default: no. */
  readonly counted?: boolean;
}

type Field = readonly [type: string, of: (paste: NewPaste) => unknown];
type InsertedColumn = Exclude<(typeof insertedPasteColumns)[number], StoredOption>;

const ownFields: Readonly<Record<Exclude<InsertedColumn, 'expires_at'> | 'expires_in', Field>> = {
  short_code: ['text', (paste) => paste.shortCode],
  user_id: ['uuid', (paste) => paste.userId],
  content_hash: ['text', (paste) => paste.contentHash],
  size_bytes: ['integer', (paste) => paste.content.length],
  expires_in: ['float8', (paste) => paste.expiresInSeconds],
  delete_token_hash: ['bytea', (paste) => paste.deleteTokenHash],
  counted: ['boolean', (paste) => paste.counted ?? false],
  for_members: ['boolean', (paste) => paste.visibility === 'members'],
};

function fieldOf(name: StoredOption): Field {
  if (name === 'visibility')
    return ['text', ({ visibility }) => (visibility === 'members' ? 'private' : visibility)];
  const { kind } = optionOf(name);
  // pg would make an array of Postgres of a list.
  if (kind === 'files') return ['jsonb', (paste) => jsonOf(paste[name])];
  return [kind === 'flag' ? 'boolean' : 'text', (paste) => paste[name] ?? defaultOf(name)];
}

const jsonOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);

/**
 * The type and the value of each inserted column. `expires_at` follows from `expires_in`, by the clock of
 * Postgres.
 */
const fields: Readonly<Record<string, Field>> = {
  ...ownFields,
  ...Object.fromEntries(storedOptionNames.map((name) => [name, fieldOf(name)])),
};

const columns = sql.join(insertedPasteColumns.map((column) => sql.ref(column)));

/**
 * New pastes as the rows of a FROM list, named `entry`, with the inserted columns and `n`, the number of
 * the paste, from 1. Of several pastes with one short code, the first.
 *
 * The contents are one parameter, from which each row takes its bytes: pg would send an array of them as
 * hexadecimal text, and a parameter for each would make a text of the statement for each number of pastes.
 * They are in no CTE, which Postgres would write to temporary files. The subquery hides the number of pastes
 * from the planner, which would otherwise plan anew for each single paste: see `anyOf`.
 */
export function entriesOf(pastes: readonly NewPaste[]): {
  readonly entries: RawBuilder<unknown>;
  /** The content of an entry, for `insertPastes`. */
  readonly content: RawBuilder<unknown>;
} {
  const arrays = Object.values(fields).map(([type, of]) => sql`${pastes.map(of)}::${sql.raw(type)}[]`);
  const names = sql.join(Object.keys(fields).map((name) => sql.ref(name)));
  const [first] = pastes;
  const bytes =
    pastes.length === 1 && first !== undefined
      ? first.content
      : Buffer.concat(pastes.map(({ content }) => content));
  return {
    entries: sql`(
        SELECT DISTINCT ON (short_code) *, now() + make_interval(secs => expires_in) AS expires_at
        FROM unnest((SELECT ${startsOf(pastes)}::integer[]), ${sql.join(arrays)}) WITH ORDINALITY AS t (starts_at, ${names}, n)
        ORDER BY short_code, n
      ) AS entry`,
    content: sql`substring(${bytes}::bytea FROM starts_at FOR size_bytes)`,
  };
}

/** Where each content begins among all of them. Postgres counts from 1. */
function startsOf(pastes: readonly NewPaste[]): readonly number[] {
  let next = 1;
  return pastes.map(({ content }) => {
    const start = next;
    next += content.length;
    return start;
  });
}

/**
 * The CTEs `paste`, `payload` and `execution`: every new paste is inserted by them, with its content and its
 * PENDING upload; `retry_failed`, a function of the owner, has statements of its own. A row whose short code or
 * slug is taken is left out. The rows come in the order of their slugs, and without a slug in that of their
 * codes, so that concurrent statements cannot deadlock: one that inserts a slug waits for another that has
 * inserted the same slug and has not committed.
 * @param from a CTE with the inserted columns, and what `content` uses
 */
export function insertPastes({
  from,
  where = sql`true`,
  content,
}: {
  readonly from: string;
  readonly where?: RawBuilder<unknown>;
  readonly content: RawBuilder<unknown>;
}): RawBuilder<unknown> {
  const source = sql.table(from);
  return sql`paste AS (
      INSERT INTO pastes (${columns})
      SELECT ${columns} FROM ${source} WHERE ${where} ORDER BY slug, short_code
      ON CONFLICT DO NOTHING
      RETURNING id, short_code, user_id, created_at, expires_at
    ), payload AS (
      INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
      SELECT paste.id, ${content}, paste.user_id, paste.created_at FROM paste JOIN ${source} USING (short_code)
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'upload', id, 1 FROM paste RETURNING id, subject_id
    )`;
}

/**
 * The condition under which no operator has blocked the content of an entry.
 * @param contentHash a text
 */
export function isNotBlocked(contentHash: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`NOT EXISTS (SELECT FROM content_blocks b WHERE b.content_hash = ${contentHash} AND b.unblocked_at IS NULL)`;
}
