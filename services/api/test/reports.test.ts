import { beforeEach, describe, expect, it } from '@jest/globals';
import { placedFiles } from '@pasteflow/domain';
import { findReports, rejectReports, takeDown, upholdReports } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { ownForm, ownPage, problemOf } from './support/http.ts';
import { expectLimited } from './support/limits.ts';
import { expire, failedPaste, newPaste, pasteRow, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const PROXIED = { TRUST_PROXY: 'loopback' };
const bed = useApi({ env: { ...PROXIED, REPORTS_HOLD_AFTER: '2', RATE_LIMIT_REPORTS_PER_HOUR: '0' } });
const by = { actor: 'ops/test', class: 'malware', reason: 'the words of the operator' } as const;

let addresses = 0;
/** Each report comes from another address. */
const nextAddress = () => `198.51.100.${(addresses += 1)}`;

function send(
  code: string,
  body: unknown = { reason: 'phishing' },
  {
    address = nextAddress(),
    headers = {},
    url = bed.api.url,
  }: { address?: string; headers?: object; url?: string } = {},
): Promise<Response> {
  return fetch(`${url}/v1/pastes/${code}/reports`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function reportsOf(code: string) {
  const { id } = (await pasteRow(bed.db, code))!;
  return (await findReports(bed.db, id)).map(({ at: _, ...report }) => report);
}

let owner: TestUser;
beforeEach(async () => {
  owner = await newUser(bed.db);
});

describe('a report', () => {
  it('is recorded with its words, without a token, and reads nothing of an encrypted or read-once paste', async () => {
    const code = await newPaste(bed.db, 'secret', { burn: true });
    const answer = await send(code, { reason: 'other', text: ' a\r\nb\t ', contact: 'me@example.org' });
    expect([answer.status, await answer.text()]).toEqual([202, '']);
    expect(await reportsOf(code)).toEqual([{ class: 'other', text: 'a\nb', contact: 'me@example.org' }]);
    expect(await pasteRow(bed.db, code)).toMatchObject({ burned_at: null, deletion_requested_at: null });
  });

  it('counts once for each address, also for users who are signed in there', async () => {
    const code = await newPaste(bed.db);
    const address = nextAddress();
    for (const headers of [{}, owner.headers, (await newUser(bed.db)).headers])
      expect((await send(code, undefined, { address, headers })).status).toBe(202);
    expect(await reportsOf(code)).toHaveLength(1);
    expect((await pasteRow(bed.db, code))!.held_at).toBeNull();
  });

  it('counts once for the many networks of an IPv6 site', async () => {
    const code = await newPaste(bed.db);
    for (const address of ['2001:db8:7:1::1', '2001:db8:7:ffff::2'])
      expect((await send(code, undefined, { address })).status).toBe(202);
    expect(await reportsOf(code)).toHaveLength(1);
    await send(code, undefined, { address: '2001:db8:8::1' });
    expect(await reportsOf(code)).toHaveLength(2);
  });

  it.each([
    ['no reason', {}, 'reason'],
    ['an unknown reason', { reason: 'ugly' }, 'reason'],
    ['a long text', { reason: 'spam', text: 'x'.repeat(1001) }, 'text'],
    ['a control character', { reason: 'spam', text: 'a\u0000b' }, 'text'],
    ['an escape in the contact', { reason: 'spam', contact: 'a\u001b[31m' }, 'contact'],
    ['a contact of two lines', { reason: 'spam', contact: 'a\nb' }, 'contact'],
    ['a long contact', { reason: 'spam', contact: 'x'.repeat(201) }, 'contact'],
    ['another field', { reason: 'spam', paste: 'x' }, 'paste'],
  ])('with %s is refused, and leaves no row', async (_name, body, path) => {
    const code = await newPaste(bed.db);
    expect(await problemOf(await send(code, body))).toMatchObject({ status: 422, errors: [{ path }] });
    expect(await reportsOf(code)).toEqual([]);
  });

  it('is refused when it is no JSON, too long, or sent by a page of another site', async () => {
    const code = await newPaste(bed.db);
    const statuses = [
      await send(code, 'reason=spam', { headers: { 'content-type': 'text/plain' } }),
      await send(code, '{'),
      await send(code, { reason: 'spam', text: 'x'.repeat(20_000) }),
      await send(code, undefined, {
        headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([415, 400, 413, 403]);
    expect(await reportsOf(code)).toEqual([]);
  });

  it('of a paste that nobody or only its owner reads is answered as the paste is, and leaves no row', async () => {
    const hidden = await newPaste(bed.db, 'x', { userId: owner.id, visibility: 'private' });
    const expired = await newPaste(bed.db);
    await expire(bed.db, expired);
    const down = await newPaste(bed.db);
    await takeDown(bed.db, [down], by);
    const seen = await Promise.all(
      ['unknown', hidden, await failedPaste(bed.db), expired, down].map(async (code) => {
        const { status, code: problem, detail } = await problemOf(await send(code));
        return [status, problem, detail];
      }),
    );
    expect(seen.map(([status, problem]) => [status, problem])).toEqual([
      [404, 'paste_not_found'],
      [404, 'paste_not_found'],
      [404, 'paste_not_found'],
      [410, 'paste_gone'],
      [451, 'paste_taken_down'],
    ]);
    expect(new Set(seen.slice(0, 3).map(([, , detail]) => detail)).size).toBe(1);
    const { rows } = await sql`
      SELECT FROM paste_reports r JOIN pastes p ON p.id = r.paste_id WHERE p.short_code IN (${hidden}, ${expired}, ${down})`.execute(
      bed.db,
    );
    expect(rows).toEqual([]);
    expect((await send(hidden, undefined, { headers: owner.headers })).status).toBe(202);
  });

  it('of content whose reports were rejected is refused, also of another paste', async () => {
    const [code, copy] = [await newPaste(bed.db, 'stays'), await newPaste(bed.db, 'stays')];
    await send(code);
    await rejectReports(bed.db, code, by);
    for (const each of [code, copy])
      expect(await problemOf(await send(each))).toMatchObject({ status: 409, code: 'report_settled' });
    expect(await reportsOf(copy)).toEqual([]);
  });

  it('is refused beyond the limit of its address, and counts only when it could be recorded', async () => {
    const { url } = await bed.start({ env: { ...PROXIED, RATE_LIMIT_REPORTS_PER_HOUR: '2' } });
    const address = nextAddress();
    const from = async (code: string) => await send(code, undefined, { url, address });
    for (let n = 0; n < 3; n += 1) expect((await from('unknown')).status).toBe(404);
    for (let n = 0; n < 2; n += 1) expect((await from(await newPaste(bed.db))).status).toBe(202);
    const code = await newPaste(bed.db);
    await expectLimited(await from(code), 'reports');
    expect((await send(code, undefined, { url })).status).toBe(202);
    expect(await reportsOf(code)).toHaveLength(1);
  });
});

describe('a paste that reports hold', () => {
  async function held(content = 'held', ownership = {}): Promise<string> {
    const code = await processedPaste(bed, content, ownership);
    await Promise.all([send(code), send(code)]);
    return code;
  }

  it('is answered 451 to strangers on every route, and never from a cache, until the reports are rejected', async () => {
    const code = await processedPaste(bed, 'held', { userId: owner.id });
    const etag = (await fetch(`${bed.api.url}/${code}`)).headers.get('etag')!;
    const child = await processedPaste(bed, 'child', { parent: code });
    await Promise.all([send(code), send(code)]);
    const paths = [
      ...['', '/timeline', '/image', '/new'].map((end) => `/${code}${end}`),
      ...['', '/content', '/timeline', '/events'].map((end) => `/v1/pastes/${code}${end}`),
    ];
    const stranger = await newUser(bed.db);
    for (const path of paths)
      for (const headers of [{}, stranger.headers]) {
        const answer = await fetch(bed.api.url + path, { headers: { ...headers, 'if-none-match': etag } });
        expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store']);
        expect([path, await problemOf(answer)]).toMatchObject([path, { status: 451, code: 'paste_held' }]);
      }
    expect((await fetch(`${bed.api.url}/${child}/diff`)).status).toBe(451);
    const fork = await fetch(`${bed.api.url}/v1/pastes?parent=${code}`, { method: 'POST', body: 'fork' });
    expect(await problemOf(fork)).toMatchObject({ status: 422, code: 'parent_not_found' });
    await rejectReports(bed.db, code, by);
    expect(await (await fetch(`${bed.api.url}/${code}`)).text()).toBe('held');
  });

  it('is read by its owner, who sees why', async () => {
    const code = await held('of its owner', { userId: owner.id });
    const read = (path: string, headers = {}) =>
      fetch(bed.api.url + path, { headers: { ...owner.headers, ...headers } });
    expect(await (await read(`/${code}`)).text()).toBe('of its owner');
    expect(await (await read(`/v1/pastes/${code}`)).json()).toMatchObject({ held_at: expect.any(String) });
    const page = await (await read(`/${code}`, { accept: 'text/html' })).text();
    expect(page).toContain('Until an operator has decided, only you can read it.');
    const seen = await fetch(`${bed.api.url}/${code}`, { headers: { accept: 'text/html' } });
    expect([seen.status, await seen.text()]).toEqual([451, expect.not.stringContaining('of its owner')]);
  });

  it('can be deleted by its token, reported again, and taken down', async () => {
    const [mine, theirs] = [await held('mine'), await held('theirs')];
    expect((await send(mine)).status).toBe(202);
    const removal = { method: 'DELETE', headers: { 'delete-token': 'the token' } };
    expect((await fetch(`${bed.api.url}/v1/pastes/${mine}`, removal)).status).toBe(204);
    expect(await problemOf(await fetch(`${bed.api.url}/${mine}`))).toMatchObject({ status: 410 });
    await upholdReports(bed.db, theirs, { ...by, endTokens: false });
    expect(await problemOf(await fetch(`${bed.api.url}/${theirs}`))).toMatchObject({
      code: 'paste_taken_down',
    });
  });

  it('is not revealed, and can be once the reports are rejected', async () => {
    const code = await held('once', { burn: true });
    const reveal = () => fetch(`${bed.api.url}/${code}`, { method: 'POST' });
    expect(await problemOf(await reveal())).toMatchObject({ code: 'paste_held' });
    await rejectReports(bed.db, code, by);
    expect(await (await reveal()).text()).toBe('once');
  });
});

describe('the form, without JavaScript', () => {
  const page = (path: string, init: RequestInit = {}) =>
    fetch(bed.api.url + path, {
      ...init,
      headers: { accept: 'text/html', ...ownPage(bed.api.url), ...(init.headers as object) },
    });

  it('says that it is about all files of a paste, and asks which one is meant', async () => {
    const files = placedFiles(['a', 'b'].map((name) => ({ name, size: 1, syntax: null })));
    const asks = async (code: string) =>
      (await (await page(`/${code}/report`)).text()).includes('say which file you mean');
    expect(await asks(await newPaste(bed.db, 'xy', { files }))).toBe(true);
    expect(await asks(await newPaste(bed.db, 'xy'))).toBe(false);
  });

  it.each(['text', 'encrypted', 'read-once', 'not stored yet'])(
    'is linked from the page of a paste that is %s, and sends a report',
    async (kind) => {
      const code =
        kind === 'text'
          ? await processedPaste(bed, 'text')
          : await newPaste(bed.db, 'x', { burn: kind === 'read-once' });
      if (kind === 'encrypted')
        await sql`UPDATE pastes SET encrypted = true WHERE short_code = ${code}`.execute(bed.db);
      expect(await (await page(`/${code}`)).text()).toContain(`href="/${code}/report"`);
      const form = await (await page(`/${code}/report`)).text();
      expect(form).toContain(`<form class="narrow" method="post" action="/${code}/report">`);
      expect(form).toContain('<option value="phishing">Phishing</option>');
      const fields = { reason: 'phishing', text: '<b>\r\nit asks', contact: '' };
      const sent = await page(`/${code}/report`, ownForm(bed.api.url, fields));
      expect([sent.status, await sent.text()]).toEqual([200, expect.stringContaining('The report is sent')]);
      expect(await reportsOf(code)).toEqual([{ class: 'phishing', text: '<b>\nit asks', contact: null }]);
    },
  );

  it('says what is wrong, and what the operator has decided', async () => {
    const code = await newPaste(bed.db, 'of the form');
    const wrong = await page(`/${code}/report`, ownForm(bed.api.url, { reason: '' }));
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining('data-field="reason"')]);
    await send(code);
    await rejectReports(bed.db, code, by);
    const settled = await page(`/${code}/report`, ownForm(bed.api.url, { reason: 'spam' }));
    expect([settled.status, await settled.text()]).toEqual([
      409,
      expect.stringContaining('decided that it stays'),
    ]);
  });
});
