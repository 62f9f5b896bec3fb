import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { objectKeyOf } from '@pasteflow/domain';
import { contentHashOf } from '@pasteflow/service-kit';
import { blockContent, requestDeletion, findPaste, resetStuckDeletions, takeDown } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { postJson, postRaw, problemOf } from './support/http.ts';
import {
  claimUpload,
  expire,
  failedPaste,
  newPaste,
  processedPaste,
  settleExecution,
  upload,
} from './support/pastes.ts';
import { metricOf, until } from './support/until.ts';

const bed = useApi();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await FaultProxy.start(bed.stack.aws.endpoint);
});
afterEach(() => proxy.clear());
afterAll(() => proxy.stop());

const start = (options: { readonly contentWaitMs?: number } = {}) =>
  bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url }, ...options });
const secret = (content: Buffer | string = 'the secret') => processedPaste(bed, content, { burn: true });
const pathsOf = (code: string) => [`/${code}`, `/v1/pastes/${code}/reveal`] as const;
const reveal = (code: string, init: RequestInit = {}, { url }: Pick<RunningApi, 'url'> = bed.api) =>
  fetch(`${url}/${code}`, { method: 'POST', ...init });
const rowOf = async (code: string) => (await findPaste(bed.db, code))!;

async function expectUnread(code: string): Promise<void> {
  expect(await rowOf(code)).toMatchObject({
    burned_at: null,
    deletion_status: 'NOT_EXPIRED',
    gone: false,
  });
  const answer = await reveal(code);
  expect([answer.status, await answer.text()]).toEqual([200, 'the secret']);
}

describe('a paste that is deleted when it is read', () => {
  it.each([
    ['JSON', () => postJson(bed.api.url, { content: 'the secret', burn: true })],
    ['a raw body', () => postRaw(bed.api.url, 'the secret', '?burn=true')],
    [
      'a form',
      () => {
        const body = new FormData();
        body.set('content', 'the secret');
        body.set('burn', 'true');
        return fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body });
      },
    ],
  ])('is created by %s, and no metadata has the hash of its content', async (_name, post) => {
    const created = (await (await post()).json()) as { short_code: string };
    expect(created).toMatchObject({ burn: true, content_hash: null });
    const code = created.short_code;
    await upload(bed.db, bed.store, code, 'the secret');
    const metadata = await (await fetch(`${bed.api.url}/v1/pastes/${code}`)).text();
    expect(JSON.parse(metadata)).toMatchObject({ burn: true, content_hash: null });
    expect(metadata).not.toContain((await rowOf(code)).content_hash.slice(7));
    await expectUnread(code);
  });

  it.each(['yes', '1', ''])('is refused for burn=%s', async (value) => {
    const problem = await problemOf(await postRaw(bed.api.url, 'x', `?burn=${value}`));
    expect(problem).toMatchObject({
      status: 422,
      errors: [{ path: 'burn', message: 'must be true or false' }],
    });
  });

  it('is not read by GET and HEAD, as crawlers, link previews and browsers send them', async () => {
    const code = await secret();
    const headers = [
      {},
      { accept: 'text/html' },
      { range: 'bytes=0-3' },
      { 'if-none-match': '*' },
      { 'if-match': '*' },
      { 'user-agent': 'Slackbot-LinkExpanding 1.0', accept: '*/*' },
      { purpose: 'prefetch', accept: 'text/html' },
    ];
    for (const method of ['GET', 'HEAD'])
      for (const each of headers)
        for (const path of [`/${code}`, `/${code}.txt`, `/v1/pastes/${code}/content`]) {
          const answer = await fetch(bed.api.url + path, { method, headers: each as Record<string, string> });
          expect([200, 403]).toContain(answer.status);
          expect(answer.headers.get('etag')).toBeNull();
          expect(await answer.text()).not.toContain('the secret');
        }
    const problem = await problemOf(await fetch(`${bed.api.url}/${code}`));
    expect(problem).toMatchObject({ status: 403, code: 'reveal_required' });
    expect(problem.detail).toContain(`curl -X POST ${bed.api.url}/${code} -H "Idempotency-Key: `);
    await expectUnread(code);
  });

  it.each([0, 1])(
    'is read once by POST, byte for byte, and is then 410 everywhere but in its timeline: %s',
    async (n) => {
      const content = Buffer.from([0, 255, 10, 13, 195, 40]);
      const code = await secret(content);
      const answer = await fetch(bed.api.url + pathsOf(code)[n]!, { method: 'POST' });
      expect(answer.headers.get('cache-control')).toBe('no-store, no-transform');
      expect(answer.headers.get('content-security-policy')).toContain('sandbox');
      expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
      for (const path of pathsOf(code)) {
        const again = await problemOf(await fetch(bed.api.url + path, { method: 'POST' }));
        expect(again).toMatchObject({ status: 410, code: 'paste_gone' });
        expect(again.detail).toContain('was read');
      }
      for (const end of ['', '/content', '/events'])
        expect((await fetch(`${bed.api.url}/v1/pastes/${code}${end}`)).status).toBe(410);
      const removal = { method: 'DELETE', headers: { 'delete-token': 'the token' } };
      expect((await fetch(`${bed.api.url}/v1/pastes/${code}`, removal)).status).toBe(410);
      const timeline = (await (await fetch(`${bed.api.url}/v1/pastes/${code}/timeline`)).json()) as {
        transitions: object[];
      };
      expect(timeline.transitions.at(-1)).toMatchObject({
        from: 'NOT_EXPIRED',
        to: 'DELETION_IN_PROGRESS',
        actor: 'api',
        reason_class: 'revealed',
      });
      const page = await fetch(`${bed.api.url}/${code}/timeline`, { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('being deleted')]);
    },
  );

  it('has a page with a form that reveals the text, once, without a link that leads to the text again', async () => {
    const code = await processedPaste(bed, '<b>the secret</b>', { burn: true });
    const html = { accept: 'text/html' };
    const before = await (await fetch(`${bed.api.url}/${code}`, { headers: html })).text();
    expect(before).not.toContain('the secret<');
    expect(before).toContain(`<form method="post" action="/${code}">`);
    const answer = await reveal(code, {
      headers: { ...html, origin: bed.api.url, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(),
    });
    const page = await answer.text();
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(page).toContain('&lt;b&gt;the secret&lt;/b&gt;');
    expect(page).not.toContain('/content');
    expect(page).not.toContain('id="fork"');
    const again = await reveal(code, { headers: html });
    const gone = await again.text();
    expect([again.status, gone]).toEqual([410, expect.stringContaining('was read')]);
    expect(gone).toContain(`href="/${code}/timeline"`);
    expect((await fetch(`${bed.api.url}/${code}/timeline`, { headers: html })).status).toBe(200);
  });

  it.each([
    ['was deleted', (code: string) => rowOf(code).then(({ id }) => requestDeletion(bed.db, id))],
    [
      'was read and then taken down',
      async (code: string) => {
        await reveal(code);
        await takeDown(bed.db, [code], { actor: 'ops/test', class: 'spam', reason: 'x' });
      },
    ],
  ] as const)('has no link to a timeline that is not shown: %s', async (_name, end) => {
    const code = await secret();
    await end(code);
    const headers = { accept: 'text/html' };
    expect(await (await fetch(`${bed.api.url}/${code}`, { headers })).text()).not.toContain('/timeline"');
    expect((await fetch(`${bed.api.url}/${code}/timeline`, { headers })).status).toBeGreaterThan(400);
  });

  it.each([
    ['deleted', (code: string) => rowOf(code).then(({ id }) => requestDeletion(bed.db, id)), 410],
    ['expired', (code: string) => expire(bed.db, code), 410],
    [
      'taken down',
      (code: string) => takeDown(bed.db, [code], { actor: 'ops/test', class: 'spam', reason: 'x' }),
      451,
    ],
  ])('is not revealed when it is %s', async (_name, end, status) => {
    const code = await secret();
    await end(code);
    for (const path of pathsOf(code))
      expect((await fetch(bed.api.url + path, { method: 'POST' })).status).toBe(status);
    expect((await rowOf(code)).burned_at).toBeNull();
  });

  it('is 451 also in its timeline when it was read and then taken down', async () => {
    const code = await secret();
    await (await reveal(code)).text();
    await takeDown(bed.db, [code], { actor: 'ops/test', class: 'spam', reason: 'x' });
    expect((await fetch(`${bed.api.url}/v1/pastes/${code}/timeline`)).status).toBe(451);
  });

  it('is not created with a blocked content', async () => {
    const by = { actor: 'ops/test', class: 'malware', reason: 'x' } as const;
    await blockContent(bed.db, contentHashOf(Buffer.from('blocked secret')), by);
    const answer = await postJson(bed.api.url, { content: 'blocked secret', burn: true });
    expect((await problemOf(answer)).code).toBe('content_blocked');
  });

  it('stays unreadable when the watchdog releases the claim of its reader', async () => {
    const code = await secret();
    await (await reveal(code)).text();
    await sql`UPDATE pastes SET deletion_initiated_at = now() - interval '3 hours' WHERE short_code = ${code}`.execute(
      bed.db,
    );
    await resetStuckDeletions(bed.db, { actor: 'janitor/test', stuckAfterSeconds: 7200, limit: 10 });
    expect(await rowOf(code)).toMatchObject({ deletion_status: 'NOT_EXPIRED' });
    await sql`UPDATE pastes SET expires_at = now() + interval '1 hour' WHERE short_code = ${code}`.execute(
      bed.db,
    ); // as if by a clock that was set back
    expect((await reveal(code)).status).toBe(410);
    expect((await fetch(`${bed.api.url}/v1/pastes/${code}`)).status).toBe(410);
  });
});

describe('a reveal', () => {
  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['with a foreign origin', { origin: 'https://evil.example' }],
    ['with the origin of a sandboxed page', { origin: 'null' }],
    [
      'that says same-origin with a foreign origin',
      { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:1' },
    ],
  ])('is refused when a browser sends the form %s', async (_name, headers) => {
    const code = await secret();
    for (const path of pathsOf(code)) {
      const answer = await fetch(bed.api.url + path, { method: 'POST', headers });
      expect(await problemOf(answer)).toMatchObject({ status: 403, code: 'cross_site_request' });
      const page = await fetch(bed.api.url + path, {
        method: 'POST',
        headers: { ...headers, accept: 'text/html' },
      });
      expect([page.status, await page.text()]).toEqual([403, expect.not.stringContaining('the secret')]);
    }
    await expectUnread(code);
  });

  it('is refused with a body, which somebody meant as a new paste', async () => {
    const code = await secret();
    expect((await problemOf(await reveal(code, { body: 'text' }))).status).toBe(422);
    await expectUnread(code);
  });

  it('is 409 for a paste that stays when it is read, and 404 for what is not found', async () => {
    const code = await processedPaste(bed, 'plain');
    expect(await problemOf(await reveal(code))).toMatchObject({ status: 409, code: 'nothing_to_reveal' });
    expect(await (await fetch(`${bed.api.url}/${code}`)).text()).toBe('plain');
    for (const each of ['doesNotExist', await failedPaste(bed.db, { burn: true })])
      expect((await reveal(each)).status).toBe(404);
  });

  it('waits for the upload in progress, and is otherwise 503 with an empty body', async () => {
    const code = await newPaste(bed.db, 'the secret', { burn: true });
    const early = await reveal(code);
    expect([early.status, early.headers.get('retry-after'), await early.text()]).toEqual([503, '1', '']);
    expect((await fetch(`${bed.api.url}/${code}`)).status).toBe(403);
    const pending = await reveal(code, { headers: { accept: 'text/html' } });
    expect(await pending.text()).toContain('id="pending"');
    await bed.store.put(objectKeyOf(code), Buffer.from('the secret'), {
      sha256: Buffer.from((await rowOf(code)).content_hash.slice(7), 'hex'),
    });
    const execution = await claimUpload(bed.db, code);
    const api = await start({ contentWaitMs: 600_000 });
    const reading = reveal(code, {}, api);
    await until(() => api.statements.some((text) => text.includes('json_build_object(')));
    await settleExecution(bed.db, execution, bed.store.urlOf(objectKeyOf(code)));
    expect(await (await reading).text()).toBe('the secret');
  });

  it('leaves the content in no memory, and is counted', async () => {
    const api = await start();
    const code = await secret();
    await (await reveal(code, {}, api)).text();
    expect(await metricOf(api, 'content_cache_bytes', { kind: 'used' })).toBe(0);
    expect(await metricOf(api, 'pastes_revealed_total', {})).toBe(1);
    expect(api.logs.filter(({ message }) => message === 'paste revealed')).toMatchObject([
      { short_code: code },
    ]);
    expect(JSON.stringify(api.logs)).not.toContain('the secret');
  });
});
