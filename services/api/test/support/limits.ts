import { expect } from '@jest/globals';
import { problemOf } from './http.ts';

/** The settings of these limits; a limit that is not named keeps its default. */
export function limited(limits: {
  requests?: number;
  creations?: number;
  misses?: number;
  bytes?: number;
  anonymous_bytes?: number;
  reports?: number;
  address_bytes?: number;
}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(limits).map(([name, points]) => [
      `RATE_LIMIT_${name.toUpperCase()}_PER_${name === 'address_bytes' ? 'DAY' : isHourly(name) ? 'HOUR' : 'MINUTE'}`,
      String(points),
    ]),
  );
}

const isHourly = (name: string): boolean => name.endsWith('bytes') || name === 'reports';

/** The RateLimit headers of an answer. */
export const fields = ({ headers }: Response) => ({
  policy: headers.get('ratelimit-policy'),
  limit: headers.get('ratelimit'),
});

export async function expectLimited(response: Response, name: string): Promise<void> {
  const wait = Number(response.headers.get('retry-after'));
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(isHourly(name) ? 3600 : 60);
  expect(response.headers.get('ratelimit')).toContain(`"${name}";r=0;t=${wait}`);
  expect(await problemOf(response)).toMatchObject({ status: 429, code: 'rate_limited' });
}
