import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ensureUser } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { expectLimited, limited } from './support/limits.ts';
import { rawGet } from './support/raw-get.ts';
import { BROWSER, browseAs, cookieIn } from './support/sign-in.ts';
import { newInvitation, newUser, signedInWith } from './support/users.ts';

const bed = useApi();

let user: { readonly id: string; readonly name: string };
beforeEach(async () => {
  const name = `anna <b> ${randomUUID()}`;
  user = { id: await ensureUser(bed.db, name), name };
});

const invited = async (lastsSeconds?: number) => await newInvitation(bed.db, user.id, lastsSeconds);

/** As from a message: no page of the service has led to it. */
const open = async (secret: string, api: RunningApi = bed.api) =>
  await fetch(`${api.url}/invitation/${secret}`, {
    headers: { ...BROWSER, 'sec-fetch-site': 'cross-site' },
    redirect: 'manual',
  });

/** @param formKey of the page that was opened. Default: each acceptance has opened its own */
const accept = async (
  secret: string,
  headers: Record<string, string> = {},
  api: RunningApi = bed.api,
  formKey: string = randomUUID(),
) => {
  const form = ownForm(api.url, { form_key: formKey });
  return await fetch(`${api.url}/invitation/${secret}`, {
    ...form,
    headers: { ...BROWSER, ...(form.headers as Record<string, string>), ...headers },
    redirect: 'manual',
  });
};

const newSecret = () => randomBytes(32).toString('base64url');

const isSignedIn = async (cookie: string) => (await browseAs(bed.api, cookie, '/my/pastes')).status === 200;

describe('an invitation', () => {
  it('is shown as often as its link is opened, which changes nothing', async () => {
    const secret = await invited();
    for (const _time of [1, 2]) {
      const response = await open(secret);
      expect([response.status, response.headers.get('set-cookie')]).toEqual([200, null]);
      const markup = await response.text();
      expect(markup).toContain('anna &lt;b&gt;');
      expect(markup).not.toContain(secret);
    }
    expect((await accept(secret)).status).toBe(201);
  });

  it('signs the browser in for 30 days, and is good for nothing afterwards', async () => {
    const secret = await invited();
    const accepted = await accept(secret);
    expect(accepted.status).toBe(201);
    expect(accepted.headers.get('set-cookie')).toMatch(
      /^pasteflow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );
    expect(await accepted.text()).toContain('<bdi>anna &lt;b&gt;');
    expect(await isSignedIn(cookieIn(accepted))).toBe(true);
    const session = await bed.db
      .selectFrom('api_tokens')
      .selectAll()
      .where('user_id', '=', user.id)
      .executeTakeFirstOrThrow();
    expect((+session.expires_at! - +session.created_at) / 86_400_000).toBe(30);
    for (const response of [await accept(secret), await browseAs(bed.api, '', `/invitation/${secret}`)]) {
      expect([response.status, response.headers.get('set-cookie')]).toEqual([410, null]);
      expect(await response.text()).toContain('This invitation is used, has expired');
    }
  });

  it('leads on who is signed in by it and opens its link or sends its form again', async () => {
    const secret = await invited();
    const cookie = cookieIn(await accept(secret));
    const path = `/invitation/${secret}`;
    for (const again of [await browseAs(bed.api, cookie, path), await accept(secret, { cookie })])
      expect([again.status, again.headers.get('location'), again.headers.get('set-cookie')]).toEqual([
        303,
        '/',
        null,
      ]);
    const somebodyElse = await signedInWith(bed.db, (await newUser(bed.db)).token);
    expect((await browseAs(bed.api, somebodyElse, path)).status).toBe(410);
    // A browser that comes from a message says who it is when it comes from the page that this answer has.
    const headers = { ...BROWSER, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const { status, body } = await rawGet(bed.api.url + path, headers);
    expect([status, body.includes(`href="${path}"`)]).toEqual([410, true]);
  });

  it('gives a form whose answer was lost the same session again, while it lasts', async () => {
    const secret = await invited();
    const [, formKey = ''] = /name="form_key" value="(.*?)"/.exec(await (await open(secret)).text()) ?? [];
    const lost = await accept(secret, {}, bed.api, formKey);
    const again = await accept(secret, {}, bed.api, formKey);
    expect([lost.status, again.status, cookieIn(again)]).toEqual([201, 201, cookieIn(lost)]);
    expect(await isSignedIn(cookieIn(again))).toBe(true);
    expect((await accept(secret)).status).toBe(410); // another browser's
    expect((await accept(await invited(), {}, bed.api, formKey)).headers.get('set-cookie')).not.toContain(
      cookieIn(lost),
    );
    expect((await accept(secret, {}, bed.api, formKey)).status).toBe(410); // the next invitation has ended it
  });

  it('begins no session that was signed out again, whichever browser sends the form', async () => {
    const [secret, formKey] = [await invited(), randomUUID()];
    const cookie = cookieIn(await accept(secret, {}, bed.api, formKey));
    await browseAs(bed.api, cookie, '/session/end', ownForm(bed.api.url, {}));
    for (const headers of [{ cookie }, {}]) {
      const again = await accept(secret, headers, bed.api, formKey);
      expect([again.status, again.headers.get('set-cookie')]).toEqual([410, null]);
    }
    expect(await isSignedIn(cookie)).toBe(false);
  });

  it('is accepted once when one form is sent ten times at once, and each answer has the session', async () => {
    const [secret, formKey] = [await invited(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(secret, {}, bed.api, formKey)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(cookieIn)).size).toBe(1);
    const { rows } = await sql`SELECT FROM api_tokens WHERE user_id = ${user.id}`.execute(bed.db);
    expect(rows).toHaveLength(1);
  });

  it('is accepted once when ten accept it at once: one is 201, and nine are 410', async () => {
    const secret = await invited();
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(secret)));
    for (const [status, times] of [
      [201, 1],
      [410, 9],
    ])
      expect(answers.filter((answer) => answer.status === status)).toHaveLength(times ?? 0);
    expect(answers.filter(({ headers }) => headers.has('set-cookie'))).toHaveLength(1);
  });

  it('that has expired is 410, and one that nobody has made 404', async () => {
    const expired = await invited(-1);
    for (const send of [open, accept]) {
      expect((await send(expired)).status).toBe(410);
      for (const secret of [newSecret(), 'image']) expect((await send(secret)).status).toBe(404);
    }
    const problem = await fetch(`${bed.api.url}/invitation/${expired}`);
    expect(await problemOf(problem)).toMatchObject({ status: 410, code: 'invitation_ended' });
  });

  it('ends the session that the browser had before', async () => {
    const before = await signedInWith(bed.db, (await newUser(bed.db)).token);
    const after = cookieIn(await accept(await invited(), { cookie: before }));
    expect([await isSignedIn(before), await isSignedIn(after)]).toEqual([false, true]);
  });

  it('is accepted by no form of another site, and by no program', async () => {
    const secret = await invited();
    const url = `${bed.api.url}/invitation/${secret}`;
    expect((await fetch(url, { method: 'POST' })).status).toBe(403);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { origin: 'null' },
    ])
      expect((await accept(secret, headers)).status).toBe(403);
    expect((await accept(secret)).status).toBe(201);
  });

  it('stays out of other addresses, caches, log lines and the database', async () => {
    const secret = await invited();
    for (const response of [await open(secret), await accept(secret), await accept(secret)]) {
      expect(response.headers.get('referrer-policy')).toBe(
        response.status === 410 ? 'same-origin' : 'strict-origin',
      );
      if (response.status !== 410) expect(response.headers.get('cache-control')).toContain('no-store');
    }
    expect(JSON.stringify(bed.api.logs)).not.toContain(secret);
    const rows = await bed.db.selectFrom('invitations').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  it('is guessed as little as a token', async () => {
    const api = await bed.start({ env: limited({ misses: 3 }) });
    const secret = await newInvitation(bed.db, user.id);
    await open(newSecret(), api);
    await accept(newSecret(), {}, api);
    await fetch(`${api.url}/v1/pastes`, { headers: { authorization: `Bearer pf_${newSecret()}` } });
    await expectLimited(await fetch(`${api.url}/invitation/${newSecret()}`), 'misses');
    expect((await accept(secret, {}, api)).status).toBe(201);
  });

  it('is refused where an identity provider signs browsers in', async () => {
    const api = await bed.start({
      env: { OIDC_ISSUER: 'https://login.example.org', OIDC_CLIENT_ID: 'pasteflow' },
    });
    const secret = await invited();
    for (const response of [await open(secret, api), await accept(secret, {}, api)]) {
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('an identity provider signs people in');
    }
    expect(await (await browseAs(api, '', '/session')).text()).not.toContain(
      'ask the operator for an invitation',
    );
    expect(await (await browseAs(bed.api, '', '/session')).text()).toContain(
      'ask the operator for an invitation',
    );
  });

  it('is named as the beginning of its session', async () => {
    const as = cookieIn(await accept(await invited()));
    expect(await (await browseAs(bed.api, as, '/my/sessions')).text()).toContain(
      '<span>By an invitation</span>',
    );
  });

  it('says how to sign in on another device, which another invitation would not add', async () => {
    const accepted = await accept(await invited());
    for (const markup of [
      await (await browseAs(bed.api, cookieIn(accepted), '/my/sessions')).text(),
      await accepted.text(),
    ])
      expect(markup).toContain(
        'To sign in on another device, make a token and enter it there. <a href="/my/tokens">My tokens</a>',
      );
  });

  it('says nothing of tokens where the house lets nobody make one', async () => {
    const api = await bed.start({ house: { max_token_days: 0 } });
    const accepted = await accept(await invited(), {}, api);
    const sessions = await browseAs(api, cookieIn(accepted), '/my/sessions');
    expect([accepted.status, sessions.status]).toEqual([201, 200]);
    for (const answer of [accepted, sessions]) expect(await answer.text()).not.toContain('another device');
  });
});
