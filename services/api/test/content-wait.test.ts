import { describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { useApi, type RunningApi } from './support/api.ts';
import { startHoldingProxy } from './support/holding-proxy.ts';
import { problemOf } from './support/http.ts';
import { metricOf, until, waiting } from './support/until.ts';
import { claimForDeletion, expire, newPaste, processedPaste, settle, upload } from './support/pastes.ts';
import { newUser } from './support/users.ts';

const env = { TRUST_PROXY: '1' };
/** Longer than any test may take: only what the test does ends a wait. */
const contentWaitMs = 600_000;
const bed = useApi({ env, contentWaitMs });

const read = (code: string, { api = bed.api, ...init }: RequestInit & { api?: RunningApi } = {}) =>
  fetch(`${api.url}/${code}`, init);

/** The milliseconds that the last read of this paste has waited; undefined: it did not wait. */
async function waitedMs(api: RunningApi, code: string): Promise<unknown> {
  const line = await until(() =>
    api.logs.findLast((each) => each.message === 'request' && each.short_code === code),
  );
  return line?.waited_ms;
}

async function expectInProgress(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.text()).toBe('');
}

describe('a read of content whose upload is in progress', () => {
  it.each(['/CODE', '/v1/pastes/CODE/content'])(
    'waits, and is answered with the content: GET %s',
    async (path) => {
      const code = await newPaste(bed.db, 'the content');
      const answer = fetch(bed.api.url + path.replace('CODE', code), { headers: { range: 'bytes=4-6' } });
      await waiting(bed.api, 1, 'content');
      await upload(bed.db, bed.store, code, 'the content');
      const response = await answer;
      expect([response.status, await response.text()]).toEqual([206, 'con']);
      expect(await waitedMs(bed.api, code)).toBeGreaterThan(0);
      await waiting(bed.api, 0, 'content');
    },
  );

  it('waits for HEAD as for GET', async () => {
    const code = await newPaste(bed.db, 'the content');
    const answer = read(code, { method: 'HEAD' });
    await waiting(bed.api, 1, 'content');
    await upload(bed.db, bed.store, code, 'the content');
    const { status, headers } = await answer;
    expect([status, headers.get('content-length')]).toEqual([200, '11']);
  });

  it('is answered 503 after its time, and at once when that is 0', async () => {
    const api = await bed.start({ contentWaitMs: 300 });
    const code = await newPaste(bed.db);
    await expectInProgress(await read(code, { api }));
    expect(await waitedMs(api, code)).toBeGreaterThanOrEqual(299);
    expect(await metricOf(api, 'http_problems_total', { code: 'paste_in_progress' })).toBe(1);

    const never = await bed.start({ contentWaitMs: 0 });
    await expectInProgress(await read(code, { api: never }));
    expect(await waitedMs(never, code)).toBeUndefined();
  });

  it('is answered 404 when the upload fails', async () => {
    const code = await newPaste(bed.db);
    const answer = read(code);
    await waiting(bed.api, 1, 'content');
    await settle(bed.db, code, null);
    expect(await problemOf(await answer)).toMatchObject({ status: 404, code: 'paste_not_found' });
  });

  it.each([
    ['deleted by its owner', (code: string) => deleteWithToken(code)],
    ['expired', (code: string) => expire(bed.db, code)],
  ])('is answered 410 when the paste is %s', async (_, end) => {
    const code = await newPaste(bed.db);
    const answer = read(code);
    await waiting(bed.api, 1, 'content');
    await end(code);
    expect(await problemOf(await answer)).toMatchObject({ status: 410, code: 'paste_gone' });
  });

  it('never gets the content of a paste that is stored and deleted while it waits', async () => {
    const proxy = await startHoldingProxy(bed.stack.postgres.port, 'json_build_object(');
    const api = await bed.start({
      contentWaitMs,
      env: { ...env, DATABASE_URL: proxy.through(bed.databaseUrl) },
    });
    const code = await newPaste(bed.db, 'the content');
    const answer = read(code, { api });
    await proxy.holding; // the api's first read of the change
    await upload(bed.db, bed.store, code, 'the content');
    await claimForDeletion(bed.db, code);
    proxy.release();
    expect(await problemOf(await answer)).toMatchObject({ status: 410 });
    await api.stop();
    await proxy.stop();
  });

  it('misses no change between its first read and the wait', async () => {
    const proxy = await startHoldingProxy(bed.stack.postgres.port, 'from "pastes"');
    const api = await bed.start({
      contentWaitMs,
      env: { ...env, DATABASE_URL: proxy.through(bed.databaseUrl) },
    });
    const code = await newPaste(bed.db, 'the content');
    const answer = read(code, { api });
    await proxy.holding; // it has read IN_PROGRESS, but not received it yet
    await upload(bed.db, bed.store, code, 'the content');
    proxy.release();
    expect(await (await answer).text()).toBe('the content');
    await api.stop();
    await proxy.stop();
  });

  it('is answered 404 at once for a private paste of another user', async () => {
    const owner = await newUser(bed.db);
    const code = await newPaste(bed.db, 'x', { userId: owner.id, visibility: 'private' });
    expect((await read(code)).status).toBe(404);
    expect(await waitedMs(bed.api, code)).toBeUndefined();
    const own = read(code, { headers: owner.headers });
    await waiting(bed.api, 1, 'content');
    await upload(bed.db, bed.store, code, 'x');
    expect(await (await own).text()).toBe('x');
  });

  it('gives its place back when the client disconnects', async () => {
    const leaving = new AbortController();
    const answer = read(await newPaste(bed.db), { signal: leaving.signal });
    await waiting(bed.api, 1, 'content');
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await waiting(bed.api, 0, 'content');
  });

  it('asks S3 for nothing when the client disconnects while the upload ends', async () => {
    const s3 = await FaultProxy.start(bed.stack.aws.endpoint);
    const postgres = await startHoldingProxy(bed.stack.postgres.port, 'json_build_object(');
    const api = await bed.start({
      contentWaitMs,
      env: { AWS_ENDPOINT_URL_S3: s3.url, DATABASE_URL: postgres.through(bed.databaseUrl) },
    });
    const code = await newPaste(bed.db, 'the content');
    const leaving = new AbortController();
    const answer = read(code, { api, signal: leaving.signal });
    await postgres.holding; // the api doesn't see the end of the upload
    await upload(bed.db, bed.store, code, 'the content');
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await waiting(api, 0, 'content');
    postgres.release();
    // A read that begins later has been answered when the first one would have asked S3.
    const other = await processedPaste(bed, 'stored');
    for (let n = 0; n < 3; n += 1) expect(await (await read(other, { api })).text()).toBe('stored');
    expect(s3.matching({ method: 'GET', path: new RegExp(code) })).toEqual([]);
    await api.stop();
    await postgres.stop();
    await s3.stop();
  });

  it('is answered 503 when the api stops', async () => {
    const api = await bed.start({ contentWaitMs, env, stopDeadlineMs: 60_000 });
    const answer = read(await newPaste(bed.db), { api });
    await waiting(api, 1, 'content');
    await api.stop();
    await expectInProgress(await answer);
  });

  it('is not waited for by pages, which show live state', async () => {
    const response = await read(await newPaste(bed.db), { headers: { accept: 'text/html' } });
    expect(response.status).toBe(200);
    await response.text();
  });
});

describe('the number of reads that wait', () => {
  it('is limited in the process: the others are answered 503 at once', async () => {
    const api = await bed.start({ contentWaitMs, env: { ...env, MAX_WAITERS: '1' } });
    const first = await newPaste(bed.db);
    const answer = read(first, { api });
    await waiting(api, 1, 'content');
    await expectInProgress(await read(await newPaste(bed.db), { api }));
    await settle(bed.db, first, null);
    expect((await answer).status).toBe(404);
  });

  it('is limited for each caller, who is answered 503 and not 429', async () => {
    const api = await bed.start({ contentWaitMs, env: { ...env, MAX_WAITERS: '100' } });
    const code = await newPaste(bed.db, 'x');
    const from = (address: string) => read(code, { api, headers: { 'x-forwarded-for': address } });
    const waits = [from('192.0.2.1'), from('192.0.2.1')];
    await waiting(api, 2, 'content');
    await expectInProgress(await from('192.0.2.1'));
    expect(await metricOf(api, 'live_waiters_refused_total', { kind: 'content' })).toBe(1);
    waits.push(from('192.0.2.2'));
    await waiting(api, 3, 'content');
    await upload(bed.db, bed.store, code, 'x');
    for (const answer of waits) expect(await (await answer).text()).toBe('x');
    // The places are free again: they are held for the wait, and not for the download.
    const other = await newPaste(bed.db);
    const next = [1, 2].map(() => read(other, { api, headers: { 'x-forwarded-for': '192.0.2.1' } }));
    await waiting(api, 2, 'content');
    await settle(bed.db, other, null);
    for (const answer of next) expect((await answer).status).toBe(404);
  });
});

it('a wait for an upload goes on when Postgres fails in between', async () => {
  const proxy = await startHoldingProxy(bed.stack.postgres.port, 'json_build_object(');
  const api = await bed.start({
    contentWaitMs,
    env: { ...env, DATABASE_URL: proxy.through(bed.databaseUrl) },
  });
  const code = await newPaste(bed.db, 'x');
  const answer = read(code, { api });
  await proxy.holding;
  await proxy.drop();
  await upload(bed.db, bed.store, code, 'x');
  expect(await (await answer).text()).toBe('x');
  await api.stop();
  await proxy.stop();
});

async function deleteWithToken(code: string): Promise<void> {
  const deleted = await fetch(`${bed.api.url}/v1/pastes/${code}`, {
    method: 'DELETE',
    headers: { 'delete-token': 'the token' },
  });
  expect(deleted.status).toBe(204);
}
