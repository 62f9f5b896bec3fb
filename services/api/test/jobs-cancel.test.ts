import { beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { useApi } from './support/api.ts';
import { readEvents } from './support/event-reader.ts';
import { problemOf } from './support/http.ts';
import { addAsset, claim, end, endedJob, newJob, progress } from './support/jobs.ts';
import { metricOf, until } from './support/until.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const BY_OWNER = 'cancelled by its owner';
let user: TestUser;

beforeAll(async () => {
  user = await newUser(bed.db);
});

const cancel = (jobId: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${bed.api.url}/v1/jobs/${jobId}/cancel`, {
    method: 'POST',
    headers: { ...user.headers, ...headers },
  });

const read = async (path: string) =>
  (await (await fetch(`${bed.api.url}/v1/jobs/${path}`, { headers: user.headers })).json()) as Record<
    string,
    unknown
  >;

describe('POST /v1/jobs/:id/cancel', () => {
  it('ends a queued job at once, and answers with it', async () => {
    const jobId = await newJob(bed.db, user);
    const response = await cancel(jobId);
    const body = await response.json();
    expect([response.status, body]).toEqual([
      200,
      expect.objectContaining({ id: jobId, status: 'failed', error_message: BY_OWNER, result: null }),
    ]);
    expect(await read(jobId)).toEqual(body);
  });

  it('ends a running job as partial when it has made something, which stays', async () => {
    const jobId = await newJob(bed.db, user);
    const executionId = await claim(bed.db, jobId);
    await progress(bed.db, { jobId, executionId }, 40, 'two of five');
    await addAsset(bed.db, { user, jobId, executionId }, { assetType: 'archive', storagePath: 'jobs/x' });
    expect(await (await cancel(jobId)).json()).toMatchObject({
      status: 'partial',
      progress: 40,
      progress_message: 'two of five',
      error_message: BY_OWNER,
      result: { assets: 1 },
    });
    expect(await read(`${jobId}/assets`)).toMatchObject({ assets: [{ asset_type: 'archive' }] });
  });

  it('answers 200 when an erasure removes the job right after it was cancelled', async () => {
    const jobId = await newJob(bed.db, user);
    await sql`
      CREATE FUNCTION wait_at_end() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
      CREATE TRIGGER wait_at_end AFTER UPDATE OF status ON jobs FOR EACH ROW WHEN (NEW.completed_at IS NOT NULL)
        EXECUTE FUNCTION wait_at_end();`.execute(bed.db);
    const waiting = sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    const untilWaiting = (count: number) =>
      until(async () => (await waiting.execute(bed.db)).rows.length === count);
    const begun = await bed.db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(4711)`.execute(tx);
      const cancelled = cancel(jobId);
      await untilWaiting(1);
      const removed = bed.db.deleteFrom('jobs').where('id', '=', jobId).executeTakeFirst();
      await untilWaiting(2);
      // Whoever has no lock on the table yet comes after the removal.
      const others = sql`LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE`;
      const locked = bed.db.transaction().execute((other) => others.execute(other));
      await untilWaiting(3);
      return { cancelled, removed, locked };
    });
    await begun.locked;
    const [{ status }, { numDeletedRows }] = [await begun.cancelled, await begun.removed];
    expect([status, numDeletedRows]).toEqual([200, 1n]);
    await sql`DROP FUNCTION wait_at_end CASCADE`.execute(bed.db);
  });

  it('says in the timeline who cancelled the job', async () => {
    const jobId = await newJob(bed.db, user);
    await cancel(jobId);
    const { transitions } = (await read(`${jobId}/timeline`)) as { transitions: object[] };
    expect(transitions).toHaveLength(4);
    for (const each of transitions)
      expect(each).toMatchObject({ actor: 'api', reason_class: 'cancelled', reason: BY_OWNER });
  });

  it('ends the stream of events', async () => {
    const jobId = await newJob(bed.db, user);
    const events = await readEvents(`${bed.api.url}/v1/jobs/${jobId}/events`, user.headers);
    await cancel(jobId);
    expect(await events.over).toBe('ended');
    expect(events.words()).toEqual([
      'PENDING→RUNNING',
      'queued→processing',
      'RUNNING→FAILED',
      'processing→failed',
      'end failed',
    ]);
  });

  it('is answered 200 again when it is repeated, and 409 when the job ended by itself', async () => {
    const jobId = await newJob(bed.db, user);
    const first = await (await cancel(jobId)).json();
    const again = await cancel(jobId);
    expect([again.status, await again.json()]).toEqual([200, first]);
    for (const status of ['completed', 'partial', 'failed'] as const) {
      const ended = await endedJob(bed.db, user, { status });
      expect(await problemOf(await cancel(ended))).toMatchObject({
        status: 409,
        code: 'job_ended',
        detail: `This job is already ${status}. There is nothing left to cancel.`,
      });
      expect(await read(ended)).toMatchObject({ status });
    }
  });

  it('replays its answer for the same Idempotency-Key, and keeps no refusal', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const jobId = await newJob(bed.db, user);
    const bodies = [];
    for (const replayed of [null, 'true']) {
      const response = await cancel(jobId, key);
      expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([200, replayed]);
      bodies.push(await response.text());
    }
    expect(bodies[1]).toBe(bodies[0]);
    const other = await endedJob(bed.db, user);
    expect(await problemOf(await cancel(other, key))).toMatchObject({ code: 'idempotency_key_reused' });
    const refused = { 'idempotency-key': randomUUID() };
    for (const _ of [1, 2])
      expect(await problemOf(await cancel(other, refused))).toMatchObject({ code: 'job_ended' });
  });

  it('is counted and logged once, however many cancel at the same time', async () => {
    const jobId = await newJob(bed.db, user, 'import');
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(jobId)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const lines = bed.api.logs.filter((line) => line.message === 'job cancelled' && line.job_id === jobId);
    expect(lines).toEqual([
      expect.objectContaining({ job_type: 'import', from: 'queued', status: 'failed' }),
    ]);
    const counted = { job_type: 'import', from: 'queued', status: 'failed' };
    expect(await metricOf(bed.api, 'jobs_cancelled_total', counted)).toBe(1);
  });

  it('or the settlement of the worker wins, never both', async () => {
    for (let n = 0; n < 20; n += 1) {
      const jobId = await newJob(bed.db, user);
      const executionId = await claim(bed.db, jobId);
      const ending = { status: 'completed', result: {}, errorMessage: null } as const;
      const [response, settled] = await Promise.all([
        cancel(jobId),
        end(bed.db, executionId, ending).then(
          () => true,
          () => false,
        ),
      ]);
      const { status } = await read(jobId);
      expect([response.status, status, settled]).toEqual(
        settled ? [409, 'completed', true] : [200, 'failed', false],
      );
    }
  });

  it('asks to try again when plain SQL has taken the execution away, and changes nothing', async () => {
    const jobId = await newJob(bed.db, user);
    await sql`DELETE FROM task_executions WHERE subject_id = ${jobId}`.execute(bed.db);
    const response = await cancel(jobId);
    expect(response.headers.get('retry-after')).not.toBeNull();
    expect(await problemOf(response)).toMatchObject({ status: 503 });
    expect(await read(jobId)).toMatchObject({ status: 'queued' });
  });

  it('is refused for an unknown job, and for the job of another user', async () => {
    const other = await newUser(bed.db);
    const jobId = await newJob(bed.db, other);
    expect(await problemOf(await cancel(jobId))).toMatchObject({ status: 403, code: 'job_forbidden' });
    expect(await problemOf(await cancel(randomUUID()))).toMatchObject({ status: 404, code: 'job_not_found' });
    expect(await problemOf(await cancel('x'))).toMatchObject({ status: 404, code: 'job_not_found' });
    const { status } = await bed.db
      .selectFrom('jobs')
      .select('status')
      .where('id', '=', jobId)
      .executeTakeFirstOrThrow();
    expect(status).toBe('queued');
  });
});

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
