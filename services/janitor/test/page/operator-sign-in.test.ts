import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { makePastes } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { eventually } from '../world.ts';
import { openPage, TOKEN } from './open-page.ts';
import { cookiesIn, openSignInBed, ORIGIN, sessionIn, type SignInBed } from './sign-in-bed.ts';

let bed: SignInBed;
beforeAll(async () => {
  for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
  bed = await openSignInBed();
});
afterAll(() => bed.stop());

describe('an operator who signs in at the identity provider', () => {
  it('is sent there with a request that only this browser can finish', async () => {
    const { answer, url } = await bed.begin();
    expect(answer.status).toBe(303);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'operations',
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(cookiesIn(answer)).toEqual([
      expect.stringMatching(
        /^pasteflow-operations-sign-in=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
      ),
    ]);
  });

  it('comes back to the page that was asked for, with a cookie for an hour', async () => {
    const asked = await bed.browse('/reports?by=age');
    expect([asked.status, asked.headers['www-authenticate']]).toEqual([401, undefined]);
    const link = /href="([^"]*session\/oidc[^"]*)"/.exec(asked.body)![1]!;
    expect(link).toBe(`${ORIGIN}/session/oidc?next=%2Freports%3Fby%3Dage`);
    const answer = await bed.signIn('anna', '/reports?by=age');
    expect([answer.status, answer.headers.location]).toEqual([303, '/reports?by=age']);
    expect(cookiesIn(answer)).toEqual([
      'pasteflow-operations-sign-in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
      expect.stringMatching(
        /^pasteflow-operations=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/,
      ),
    ]);
    const { body, status } = await bed.browse('/', sessionIn(answer));
    expect(status).toBe(200);
    expect(body).toContain('Signed in as <bdi>anna@example.org#anna</bdi>');
  });

  it('comes back in each of two tabs', async () => {
    const older = await bed.begin('/reports');
    const newer = await bed.browse('/session/oidc?next=%2F', older.cookie);
    const cookie = cookiesIn(newer)[0]!.split(';')[0]!;
    const query = await bed.issuer.signIn(older.url, { name: 'anna' });
    const answer = await bed.callBack(query, cookie);
    expect([answer.status, answer.headers.location]).toEqual([303, '/reports']);
    const [left] = cookiesIn(answer);
    const rest = await bed.issuer.signIn(new URL(String(newer.headers.location)), { name: 'anna' });
    expect((await bed.callBack(rest, left!.split(';')[0]!)).status).toBe(303);
  });

  it('acts under the name that the provider gives, whatever name the request has', async () => {
    await bed.world.reset();
    const [paste] = await makePastes(bed.world.db, 1, { status: 'PROCESSED' });
    const form = {
      subject: paste!.shortCode,
      count: '1',
      reason: 'x',
      class: 'spam',
      actor: 'ops-oidc/eve#eve',
    };
    expect((await bed.browse('/act/takedown', await bed.sessionOf('anna'), { form })).status).toBe(303);
    const [other] = await makePastes(bed.world.db, 1, { status: 'PROCESSED' });
    const typed = Buffer.from(`ops-oidc/anna@example.org#anna:${TOKEN}`).toString('base64');
    const byToken = {
      form: { ...form, subject: other!.shortCode },
      headers: { authorization: `Basic ${typed}` },
    };
    expect((await bed.browse('/act/takedown', null, byToken)).status).toBe(303);
    const acted = () =>
      bed.world.db.selectFrom('operator_actions').select(['actor', 'outcome']).orderBy('id').execute();
    // Neither runs into the next test.
    await eventually(async () => (await acted()).every(({ outcome }) => outcome !== null));
    const actors = await acted();
    expect(actors.map(({ actor }) => actor)).toEqual([
      'ops-oidc/anna@example.org#anna',
      'ops-page/ops-oidcanna@example.organna',
    ]);
  });

  it('in the group that reads sees no action, and can do none', async () => {
    await bed.world.reset();
    const [paste] = await makePastes(bed.world.db, 1, { status: 'PROCESSED' });
    const code = paste!.shortCode;
    const session = await bed.sessionOf('ben');
    expect((await bed.browse(`/pastes/${code}`, session)).body).not.toContain('/confirm/');
    expect((await bed.browse(`/confirm/takedown?subject=${code}`, session)).status).toBe(403);
    const form = { subject: code, count: '1', reason: 'x', class: 'spam' };
    expect((await bed.browse('/act/takedown', session, { form })).status).toBe(403);
    expect(await bed.world.db.selectFrom('operator_actions').selectAll().execute()).toEqual([]);
  });

  it('in no group is told under which name, on every page, and can sign out', async () => {
    const session = await bed.sessionOf('mallory');
    for (const path of ['/', '/reports', '/actions/x']) {
      const { status, body } = await bed.browse(path, session);
      expect(status).toBe(403);
      expect(body).toContain('You are signed in as unnamed#mallory');
      expect(body).toContain('action="/session/end"');
      expect(body).not.toContain('id="live"');
    }
    const form = { subject: 'x', count: '1', reason: 'x' };
    expect((await bed.browse('/act/takedown', session, { form })).status).toBe(403);
  });

  it('signs out, from the page itself alone, and the cookie is good for nothing', async () => {
    const session = await bed.sessionOf('anna');
    const foreign = { form: {}, headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
    expect((await bed.browse('/session/end', session, foreign)).status).toBe(403);
    expect((await bed.browse('/', session)).status).toBe(200);
    const out = await bed.browse('/session/end', session, { form: {} });
    expect([out.status, out.headers.location, cookiesIn(out)]).toEqual([
      303,
      '/',
      ['pasteflow-operations=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'],
    ]);
    expect((await bed.browse('/', session)).status).toBe(401);
  });

  it('loses access when the session ends, and when the groups in the settings change', async () => {
    const session = await bed.sessionOf('anna');
    const other = await openPage(bed.world, { ...bed.env, OPS_OIDC_ACT: 'administrators' });
    expect(
      (await other.call('/', { token: null, headers: { cookie: session, host: 'ops.example.org' } })).status,
    ).toBe(401);
    await other.stop();
    expect((await bed.browse('/', session)).status).toBe(200);
    const left = await sql<{ minutes: number }>`
      SELECT max(extract(epoch FROM expires_at - now())) / 60 AS minutes FROM operator_sessions`.execute(
      bed.world.db,
    );
    expect(Math.round(Number(left.rows[0]!.minutes))).toBe(60);
    await sql`UPDATE operator_sessions SET expires_at = now()`.execute(bed.world.db);
    expect((await bed.browse('/', session)).status).toBe(401);
    await bed.sessionOf('ben');
    expect(await bed.world.db.selectFrom('operator_sessions').select('actor').execute()).toEqual([
      { actor: 'ops-oidc/ben#ben' },
    ]);
  });

  it('ends the session before when the browser signs in again', async () => {
    const before = await bed.sessionOf('anna');
    const begun = await bed.begin();
    const query = await bed.issuer.signIn(begun.url, { name: 'ben' });
    const after = sessionIn(await bed.callBack(query, `${begun.cookie}; ${before}`))!;
    expect((await bed.browse('/', before)).status).toBe(401);
    expect((await bed.browse('/', after)).body).toContain('<bdi>ben#ben</bdi>');
  });

  it.each(['//evil.example', 'https://evil.example/', '/\\evil.example', '/..//evil.example'])(
    'goes to no other site afterwards: %s',
    async (next) => {
      expect((await bed.signIn('anna', next)).headers.location).toBe('/');
    },
  );

  it('goes to no other site afterwards when the cookie was changed', async () => {
    const begun = await bed.begin();
    const query = await bed.issuer.signIn(begun.url, { name: 'anna' });
    const evil = Buffer.from('//evil.example').toString('base64url');
    expect((await bed.callBack(query, begun.cookie.replace(/\.[^.]*$/, `.${evil}`))).headers.location).toBe(
      '/',
    );
  });

  it('is not sent to the provider by another site', async () => {
    const answer = await bed.browse('/session/oidc', null, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([answer.status, cookiesIn(answer)]).toEqual([401, []]);
  });

  it('can use a token instead, for which the browser asks', async () => {
    expect((await bed.browse('/')).body).toContain('href="/?token"');
    const asked = await bed.browse('/?token');
    expect([asked.status, asked.headers['www-authenticate']]).toEqual([
      401,
      expect.stringMatching(/^Basic /),
    ]);
    expect((await bed.page.call('/')).status).toBe(200);
    expect((await bed.page.call('/', { token: 'x'.repeat(20) })).status).toBe(401);
  });

  it('has cookies of this host only where the page is reached by https', async () => {
    const behindProxy = await openPage(bed.world, { ...bed.env, OPS_URL: 'https://ops.example.org/p' });
    const answer = await behindProxy.call('/p/session/oidc', {
      token: null,
      headers: { host: 'ops.example.org' },
    });
    await behindProxy.stop();
    expect(new URL(String(answer.headers.location)).searchParams.get('redirect_uri')).toBe(
      'https://ops.example.org/p/session/oidc/callback',
    );
    expect(cookiesIn(answer)[0]).toMatch(
      /^__Host-pasteflow-operations-sign-in=[^;]+; Path=\/; HttpOnly; .*; Secure$/,
    );
  });

  it('leaves no code, state, cookie or secret in the log', async () => {
    const begun = await bed.begin();
    const query = await bed.issuer.signIn(begun.url, { name: 'anna' });
    const session = sessionIn(await bed.callBack(query, begun.cookie))!;
    await bed.callBack(query, begun.cookie);
    const logs = JSON.stringify(bed.world.log.lines);
    for (const text of [
      query.code!,
      begun.state,
      begun.nonce,
      begun.cookie.split('=')[1]!,
      session.split('=')[1]!,
    ])
      expect(logs).not.toContain(text);
  });
});
