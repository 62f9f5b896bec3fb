import { RequestError } from '../answers/request-error.ts';
import type { Limit, Standing } from './limit.ts';

const MINUTE = 60;
const HOUR = 3600;

const unitsOf: Readonly<Record<string, string>> = {
  anonymous_bytes: 'bytes of all pastes without a token',
  all_anonymous_bytes: 'bytes of all pastes without a token',
  address_bytes: 'bytes of pastes without a token',
  site_bytes: 'bytes of pastes without a token from your /48',
  site_address_bytes: 'bytes of pastes without a token from your /48',
};

/** The refusal of a request. */
export function rateLimited({ name, points, windowSeconds }: Limit, standing: Standing): RequestError {
  const seconds = secondsUntilReset(standing);
  const unit = windowSeconds === MINUTE ? 'minute' : windowSeconds === HOUR ? 'hour' : 'day';
  const of = unitsOf[name] ?? name;
  const used = standing.remaining === 0 ? 'is used up' : `has ${standing.remaining} left`;
  const detail = `The limit of ${points} ${of} per ${unit} ${used}. Try again in ${seconds} s.`;
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
}

/** Whole seconds, at least 1: a caller that returns after them finds a new window. */
function secondsUntilReset({ resetMs }: Standing): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-10: lists of structured fields (RFC 9651), one item for
 * each limit. A limit with an unknown standing has only its policy.
 */
export function limitFields(
  standings: ReadonlyMap<Limit, Standing | null>,
): Readonly<Record<string, string>> {
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
