import type { Limit, Standing } from './limit.ts';

/** The limits that a request counts against, and the caller's standing with each; null: unknown. */
export type Standings = ReadonlyMap<Limit, Standing | null>;

/** Whole seconds, at least 1: a caller that returns after them finds a new window. */
export function secondsUntilReset({ resetMs }: Standing): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-10: lists of structured fields (RFC 9651), one item for
 * each limit. A limit with an unknown standing has only its policy.
 */
export function limitFields(standings: Standings): Readonly<Record<string, string>> {
  const policies = [...standings.keys()].map(
    ({ name, points, windowSeconds }) => `"${name}";q=${points};w=${windowSeconds}`,
  );
  const items = [...standings].flatMap(([{ name }, standing]) =>
    standing === null ? [] : [`"${name}";r=${standing.remaining};t=${secondsUntilReset(standing)}`],
  );
  return {
    ...(policies.length > 0 && { 'RateLimit-Policy': policies.join(', ') }),
    ...(items.length > 0 && { RateLimit: items.join(', ') }),
  };
}
