import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const EXPORT = { job_type: 'export', parameters: {} };
const IMPORT = { job_type: 'import', parameters: { items: [{ content: 'x' }] } };

const post = (url: string, user: TestUser, body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...user.headers, ...headers },
    body: JSON.stringify(body),
  });

describe('a user with as many open jobs as are allowed', () => {
  it('is answered 429 with the reason and Retry-After, however many requests come at once', async () => {
    const api = await bed.start({ env: { MAX_OPEN_JOBS_PER_USER: '3' } });
    const [user, other] = [await newUser(bed.db), await newUser(bed.db)];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        post(api.url, user, EXPORT, n % 2 === 0 ? {} : { 'idempotency-key': `key-${n}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await problemOf(refused)).toMatchObject({
      code: 'rate_limited',
      detail: 'You have 3 jobs that wait or run. Wait until one of them has ended.',
    });
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9);
    expect((await post(api.url, other, EXPORT)).status).toBe(202);
  });
});

describe('a user whose pastes have used up the bytes of the hour', () => {
  it('is answered 429 for an import with the time of the next one, and may export', async () => {
    const api = await bed.start({ env: { RATE_LIMIT_BYTES_PER_HOUR: '1000' } });
    const user = await newUser(bed.db);
    const imported = (bytes: number) =>
      sql`INSERT INTO rate_limits AS r VALUES (${`bytes:user:${user.id}`}, ${bytes},
          (extract(epoch FROM now() + interval '10 minutes') * 1000)::bigint)
        ON CONFLICT (key) DO UPDATE SET points = r.points + excluded.points`.execute(bed.db);
    await imported(999);
    expect((await post(api.url, user, IMPORT)).status).toBe(202);
    await imported(1);
    const refused = await post(api.url, user, IMPORT);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(500);
    expect(seconds).toBeLessThanOrEqual(600);
    expect(await problemOf(refused)).toMatchObject({
      code: 'rate_limited',
      detail: expect.stringContaining('1000 bytes'),
    });
    expect((await post(api.url, user, EXPORT)).status).toBe(202);
  });
});
