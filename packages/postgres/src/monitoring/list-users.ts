import { isUuid } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { hasPart } from '../pastes/own-pastes.ts';
import { isThere } from '../schema/pastes.ts';
import type { Counted } from './inventory.ts';
import { MAX_SCANNED } from './newest-first.ts';

/** A user, and what the user has. */
interface ListedUser {
  readonly id: string;
  readonly name: string;
  /** What the identity provider calls the user; null: nothing. */
  readonly shownName: string | null;
  readonly createdAt: Date;
  readonly pastes: Counted;
  readonly bytes: Counted;
  readonly jobs: Counted;
  /** Tokens and sessions that nobody has revoked. */
  readonly tokens: Counted;
}

interface UserPage {
  readonly users: readonly ListedUser[];
  /** The name after which the next page begins; null: this is the last one. */
  readonly next: string | null;
}

/** Without quotas, so many pastes of each user are counted, and so many jobs and tokens. */
const MAX_OWNED = 200;

interface Row extends Omit<ListedUser, 'pastes' | 'bytes' | 'jobs' | 'tokens'> {
  readonly pastes: number;
  readonly bytes: number;
  readonly jobs: number;
  readonly tokens: number;
}

/**
 * A page of the users, by name, without those who are erased. A name or an id in full is found in any table, and
 * comes first; a part of a name is looked for in `MAX_SCANNED` names for a page.
 * @param maxScanned for tests
 */
export async function listUsers(
  db: Database,
  {
    text,
    after,
    limit,
    hasQuotas,
  }: {
    /** A part of the name, or of what the identity provider calls the user; or an id. null: any. */
    readonly text: string | null;
    readonly after: string | null;
    readonly limit: number;
    /** `stored_usage` counts each paste. */
    readonly hasQuotas: boolean;
  },
  maxScanned = MAX_SCANNED,
): Promise<UserPage> {
  // The orders are those of indexes: when one user has most rows, the planner would read whole tables for the others.
  const owned = hasQuotas
    ? sql`SELECT coalesce(sum(pastes), 0)::float8 AS pastes, coalesce(sum(bytes), 0)::float8 AS bytes
        FROM stored_usage WHERE owner = found.id`
    : sql`SELECT count(*)::float8 AS pastes, coalesce(sum(size_bytes), 0)::float8 AS bytes FROM (
        SELECT size_bytes FROM pastes p WHERE p.user_id = found.id AND ${isThere('p')}
        ORDER BY created_at, id LIMIT ${MAX_OWNED}) AS paste`;
  const upTo = (owned: RawBuilder<unknown>) =>
    sql`(SELECT count(*)::integer FROM (${owned} LIMIT ${MAX_OWNED}) AS owned)`;
  const jobs = sql`SELECT FROM jobs WHERE user_id = found.id ORDER BY created_at, id`;
  const tokens = sql`SELECT FROM api_tokens WHERE user_id = found.id AND revoked_at IS NULL`;
  const matches =
    text === null
      ? sql`true`
      : sql`(${hasPart(sql`normalize(u.name, NFC)`, text)} OR ${hasPart(sql`normalize(u.shown_name, NFC)`, text)})`;
  const isExact = sql`(name = ${text} OR id = ${text !== null && isUuid(text.toLowerCase()) ? text : null}::uuid)`;
  const exact = sql`SELECT * FROM users WHERE ${text !== null && after === null ? isExact : sql`false`}`;
  const { rows } = await sql<Row & { readonly isExact: boolean }>`
    WITH exact AS MATERIALIZED (${exact}), named AS MATERIALIZED (
      SELECT * FROM (SELECT * FROM users ${after === null ? sql`` : sql`WHERE name > ${after}`} ORDER BY name LIMIT ${maxScanned}) AS u
      WHERE ${matches} AND erased_at IS NULL AND ${isExact} IS NOT TRUE ORDER BY name LIMIT ${limit + 1}
    ), found AS (
      SELECT *, true AS "isExact" FROM exact WHERE erased_at IS NULL UNION ALL SELECT *, false FROM named
    )
    SELECT found.id, found.name, found.shown_name AS "shownName", found.created_at AS "createdAt", "isExact", owned.pastes, owned.bytes,
      ${upTo(jobs)} AS jobs, ${upTo(tokens)} AS tokens
    FROM found CROSS JOIN LATERAL (${owned}) AS owned ORDER BY "isExact" DESC, found.name`.execute(db);
  const named = rows.filter(({ isExact }) => !isExact);
  const shown = [...rows.filter(({ isExact }) => isExact), ...named.slice(0, limit)];
  return {
    users: shown.map((row) => toUser(row, hasQuotas)),
    next: named.length > limit ? (named[limit - 1]?.name ?? null) : await lastScanned(db, after, maxScanned),
  };
}

/** The name at which a search has stopped; null: it has looked at all. */
async function lastScanned(db: Database, after: string | null, maxScanned: number): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM users ${after === null ? sql`` : sql`WHERE name > ${after}`} ORDER BY name
    OFFSET ${maxScanned - 1} LIMIT 1`.execute(db);
  return rows[0]?.name ?? null;
}

function toUser(
  { id, name, shownName, createdAt, pastes, bytes, jobs, tokens }: Row,
  hasQuotas: boolean,
): ListedUser {
  const counted = (count: number, approximate = count >= MAX_OWNED): Counted => ({ count, approximate });
  const isCut = !hasQuotas && pastes >= MAX_OWNED;
  return {
    id,
    name,
    shownName,
    createdAt,
    pastes: counted(pastes, isCut),
    bytes: counted(bytes, isCut),
    jobs: counted(jobs),
    tokens: counted(tokens),
  };
}
