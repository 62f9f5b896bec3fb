import { beforeAll, describe, expect, it } from '@jest/globals';
import { eraseUser } from '@pasteflow/postgres';
import { sql } from 'kysely';
import type { IncomingMessage } from 'node:http';
import { preferredWait } from '../src/live/read-waiting.ts';
import { useApi } from './support/api.ts';
import { startHoldingProxy } from './support/holding-proxy.ts';
import { problemOf } from './support/http.ts';
import { claim, end, newJob, progress } from './support/jobs.ts';
import { claimUpload, expire, newPaste, processedPaste, settle, settleExecution } from './support/pastes.ts';
import { until, waiting } from './support/until.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
let user: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
});

const URL_OF_OBJECT = 's3://pasteflow/x';
const wait = (path: string, seconds: number, { url }: { url: string } = bed.api, headers = user.headers) =>
  fetch(`${url}/v1/${path}`, { headers: { ...headers, prefer: `wait=${seconds}` } });

describe('Prefer: wait', () => {
  it('answers when the upload has succeeded, with Preference-Applied', async () => {
    const code = await newPaste(bed.db);
    const answer = wait(`pastes/${code}`, 60);
    await waiting(bed.api, 1);
    await settle(bed.db, code, URL_OF_OBJECT);
    const response = await answer;
    expect(response.headers.get('preference-applied')).toBe('wait=60');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const paste = (await response.json()) as object;
    expect(paste).toMatchObject({ short_code: code, status: 'PROCESSED' });
    expect(paste).toEqual(await (await fetch(`${bed.api.url}/v1/pastes/${code}`)).json());
  });

  it('ends with the token and the user of the request', async () => {
    const api = await bed.start({ live: { heartbeatMs: 50 } });
    const erased = await newUser(bed.db);
    const code = await newPaste(bed.db);
    const answer = wait(`pastes/${code}`, 60, api, erased.headers);
    await waiting(api, 1);
    await eraseUser(bed.db, erased.id, null);
    const response = await answer;
    expect([response.status, (await problemOf(response)).code]).toEqual([401, 'unauthorized']);
  });

  it('answers when the upload has failed', async () => {
    const code = await newPaste(bed.db);
    const answer = wait(`pastes/${code}`, 60);
    await waiting(bed.api, 1);
    await settle(bed.db, code, null);
    expect(await (await answer).json()).toMatchObject({
      status: 'FAILED',
      failure_class: 'storage_unavailable',
    });
  });

  it.each(['completed', 'partial', 'failed'] as const)('answers when a job is %s', async (status) => {
    const jobId = await newJob(bed.db, user);
    const answer = wait(`jobs/${jobId}`, 60);
    await waiting(bed.api, 1);
    const executionId = await claim(bed.db, jobId); // no terminal state
    await progress(bed.db, { jobId, executionId }, 50, 'half');
    await waiting(bed.api, 1);
    const errorMessage = status === 'completed' ? null : 'why';
    await end(bed.db, executionId, { status, result: { made: 'ä\n"' }, errorMessage });
    const job = (await (await answer).json()) as object;
    expect(job).toMatchObject({ id: jobId, status, result: { made: 'ä\n"' }, error_message: errorMessage });
    expect(job).toEqual(
      await (await fetch(`${bed.api.url}/v1/jobs/${jobId}`, { headers: user.headers })).json(),
    );
  });

  it('answers at once when nothing more will happen, or with wait=0', async () => {
    const done = await wait(`pastes/${await processedPaste(bed, 'x')}`, 60);
    expect([done.status, done.headers.get('preference-applied')]).toEqual([200, 'wait=60']);
    const open = await wait(`pastes/${await newPaste(bed.db)}`, 0);
    expect(await open.json()).toMatchObject({ status: 'IN_PROGRESS' });
    expect(open.headers.get('preference-applied')).toBe('wait=0');
  });

  it('answers after the given seconds with the current state', async () => {
    const code = await newPaste(bed.db);
    const jobId = await newJob(bed.db, user);
    const answers = [wait(`pastes/${code}`, 1), wait(`jobs/${jobId}`, 1)];
    await waiting(bed.api, 2);
    await progress(bed.db, { jobId, executionId: await claim(bed.db, jobId) }, 50, 'half');
    const [paste, job] = await Promise.all(answers);
    expect([paste!.status, paste!.headers.get('preference-applied')]).toEqual([200, 'wait=1']);
    expect(await paste!.json()).toMatchObject({ status: 'IN_PROGRESS' });
    expect(await job!.json()).toMatchObject({ status: 'processing', progress: 50, progress_message: 'half' });
  });

  it('is in the log line, and not in the durations', async () => {
    const api = await bed.start();
    const code = await newPaste(bed.db);
    await wait(`pastes/${code}`, 1, api);
    const line = await until(() =>
      api.logs.find((each) => each.message === 'request' && each.short_code === code),
    );
    const { duration_ms: duration, waited_ms: waited } = line as unknown as Record<string, number>;
    expect(waited).toBeGreaterThanOrEqual(999);
    const metrics = await (await fetch(`${api.metricsUrl}/metrics`)).text();
    const [, sum] = /http_request_duration_seconds_sum\{[^}]*"\/v1\/pastes\/:short_code"[^}]*\} (\S+)/.exec(
      metrics,
    )!;
    expect(Number(sum)).toBeCloseTo((duration! - waited!) / 1000, 2); // the only request to this api
  });

  it('ends with 410 when the paste is deleted, and with 404 when it is removed', async () => {
    const codes = [await newPaste(bed.db), await newPaste(bed.db)];
    const answers = codes.map((code) => wait(`pastes/${code}`, 60));
    await waiting(bed.api, 2);
    const deleted = await fetch(`${bed.api.url}/v1/pastes/${codes[0]}`, {
      method: 'DELETE',
      headers: { 'delete-token': 'the token' },
    });
    expect(deleted.status).toBe(204);
    expect(await problemOf(await answers[0]!)).toMatchObject({ status: 410, code: 'paste_gone' });
    const jobId = await newJob(bed.db, user);
    const job = wait(`jobs/${jobId}`, 1);
    await waiting(bed.api, 2);
    await bed.db.deleteFrom('jobs').where('id', '=', jobId).execute();
    expect(await problemOf(await job)).toMatchObject({ status: 404, code: 'job_not_found' });
    await expire(bed.db, codes[1]!);
    expect(await problemOf(await answers[1]!)).toMatchObject({ status: 410 });
  });

  it('refuses at once what it refuses without the header', async () => {
    const secret = await newPaste(bed.db, 'x', { userId: user.id, visibility: 'private' });
    const stranger = await newUser(bed.db);
    const refusals = [
      [wait(`pastes/${secret}`, 60, bed.api, stranger.headers), 404],
      [wait('pastes/neverThere', 60), 404],
      [wait(`jobs/${await newJob(bed.db, user)}`, 60, bed.api, stranger.headers), 403],
      [wait(`jobs/${await newJob(bed.db, user)}`, 60, bed.api, {}), 401],
    ] as const;
    for (const [answer, status] of refusals) {
      const response = await answer;
      expect([response.status, response.headers.get('preference-applied')]).toEqual([status, null]);
      await response.arrayBuffer();
    }
  });

  it('misses no change between its first read and the wait', async () => {
    const proxy = await startHoldingProxy(bed.stack.postgres.port, 'from "pastes"');
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const code = await newPaste(bed.db);
    const executionId = await claimUpload(bed.db, code);
    const reading = wait(`pastes/${code}`, 60, api);
    await proxy.holding; // it has read IN_PROGRESS, but not received it yet
    const other = wait(`pastes/${code}`, 60, api);
    await waiting(api, 1);
    await settleExecution(bed.db, executionId, URL_OF_OBJECT);
    expect(await (await other).json()).toMatchObject({ status: 'PROCESSED' }); // so the api has read the change
    proxy.release();
    expect(await (await reading).json()).toMatchObject({ status: 'PROCESSED' });
    await api.stop();
    await proxy.stop();
  });

  it('ends when the client disconnects', async () => {
    const leaving = new AbortController();
    const code = await newPaste(bed.db);
    const answer = fetch(`${bed.api.url}/v1/pastes/${code}`, {
      headers: { prefer: 'wait=60' },
      signal: leaving.signal,
    });
    await waiting(bed.api, 1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await waiting(bed.api, 0);
  });

  it('lets at most MAX_WAITERS wait: the others are answered at once, without Preference-Applied', async () => {
    const api = await bed.start({ env: { MAX_WAITERS: '1' } });
    const [first, second] = [await newPaste(bed.db), await newPaste(bed.db)];
    const waits = wait(`pastes/${first}`, 60, api);
    await waiting(api, 1);
    const { headers } = await newUser(bed.db); // the first may wait once
    const response = await wait(`pastes/${second}`, 60, api, headers);
    expect([response.status, response.headers.get('preference-applied')]).toEqual([200, null]);
    expect(await response.json()).toMatchObject({ status: 'IN_PROGRESS' });
    const stream = await fetch(`${api.url}/v1/pastes/${second}/events`, { headers });
    expect(stream.headers.get('retry-after')).toBe('1');
    expect(await problemOf(stream)).toMatchObject({ status: 503, code: 'stream_unavailable' });
    await settle(bed.db, first, URL_OF_OBJECT);
    expect(await (await waits).json()).toMatchObject({ status: 'PROCESSED' });
  });

  it('takes turns when many waits end at once, and leaves connections to other requests', async () => {
    const code = await newPaste(bed.db);
    const answers = Array.from({ length: 30 }, () => wait(`pastes/${code}`, 2));
    await waiting(bed.api, 30);
    await bed.db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE`.execute(tx);
      await waiting(bed.api, 0);
      expect((await fetch(`${bed.api.url}/v1/jobs`, { headers: user.headers })).status).toBe(200);
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array<number>(30).fill(200));
  });

  it('is answered with the current state when the api stops', async () => {
    const api = await bed.start({ stopDeadlineMs: 60_000 });
    const answer = wait(`pastes/${await newPaste(bed.db)}`, 60, api);
    await waiting(api, 1);
    await api.stop();
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([200, { status: 'IN_PROGRESS' }]);
  });
});

it.each<[string | undefined, number | null]>([
  [undefined, null],
  ['', null],
  ['wait=10', 10],
  ['WAIT = 10', 10],
  ['wait="10"', 10],
  ['wait=0', 0],
  ['wait=60', 60],
  ['wait=61', 60],
  ['wait=999999999', 60],
  ['respond-async, wait=100', 60],
  ['respond-async; wait=5', null], // a parameter of another preference
  ['wait=5; x=y', 5],
  ['wait=5, wait=7', 5], // the first counts
  ['wait', null],
  ['wait=', null],
  ['wait=soon', null],
  ['wait=-1', null],
  ['wait=1.5', null],
  ['wait=1e1', null],
  ['wait=99999999999999999999', null],
  ['waiting=5', null],
  ['x="wait=5"', null],
])('Prefer: %s asks for a wait of %s s', (prefer, seconds) => {
  const headers = prefer === undefined ? {} : { prefer };
  expect(preferredWait({ headers } as IncomingMessage)).toBe(seconds);
});
