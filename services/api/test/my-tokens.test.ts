import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '@pasteflow/postgres';
import { beginSession } from '../src/sessions/browser-sessions.ts';
import { useApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, ownToken, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();

let user: TestUser;
let writer: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
  writer = await ownToken(bed.db, user, 'write');
});

describe('/my/tokens', () => {
  const browse = async (path: string, init: RequestInit = {}, own = user) =>
    await browseAs(bed.api, await signedInWith(bed.db, own.token), path, init);
  const send = (fields: Record<string, string>, own = user) =>
    browse('/my/tokens', ownForm(bed.api.url, fields), own);
  const fields = { name: 'a <b>', scope: 'read', expires_in: '604800' };
  const secretIn = (markup: string) => /id="secret" value="(pf_[\w-]{43})"/.exec(markup)?.[1];

  it('makes a token, shows its secret once, and keeps the page out of every cache', async () => {
    const own = await newUser(bed.db);
    const response = await send(fields, own);
    expect(response.headers.get('cache-control')).toBe('private, no-store, no-transform');
    const markup = await response.text();
    const secret = secretIn(markup)!;
    expect(markup).toContain('<bdi>a &lt;b&gt;</bdi></strong> <span class="badge">only read</span>');
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${bed.api.url}/v1/pastes`, { headers })).status).toBe(200);
    expect(await (await browse('/my/tokens', {}, own)).text()).not.toContain(secret);
    expect(JSON.stringify(bed.api.logs)).not.toContain(secret);
  });

  describe('a form with a key', () => {
    const keyOf = (markup: string) => /name="form_key" value="([^"]+)"/.exec(markup)![1]!;
    const names = async (own: TestUser) =>
      [...(await (await browse('/my/tokens', {}, own)).text()).matchAll(/<strong><bdi>([^<]*)</g)].map(
        ([, name]) => name,
      );

    it('shows its token again when the page is reloaded, also twice at once, and makes one', async () => {
      const own = await newUser(bed.db);
      const form = { ...fields, name: 'laptop', form_key: keyOf(await (await browse('/my/tokens')).text()) };
      const before = await names(own);
      const answers = await Promise.all([send(form, own), send(form, own)]);
      const again = [...answers, await send(form, own)];
      const secrets = await Promise.all(again.map(async (each) => secretIn(await each.text())));
      expect(new Set(secrets).size).toBe(1);
      expect(secrets[0]).toBeDefined();
      expect(await names(own)).toEqual(['laptop', ...before]);
      expect(secretIn(await (await send(form)).text())).not.toBe(secrets[0]); // another user's
      expect(secretIn(await (await send({ ...form, name: 'desk' }, own)).text())).not.toBe(secrets[0]);
      expect(await names(own)).toEqual(['desk', 'laptop', ...before]);
    });

    it('brings no token back that was revoked', async () => {
      const own = await newUser(bed.db);
      const form = { ...fields, name: 'lost', form_key: randomUUID() };
      const secret = secretIn(await (await send(form, own)).text())!;
      await bed.db
        .updateTable('api_tokens')
        .set({ revoked_at: new Date() })
        .where('name', '=', 'lost')
        .where('user_id', '=', own.id)
        .execute();
      const answer = await send(form, own);
      expect([answer.status, await answer.text()]).toEqual([
        404,
        expect.stringContaining('was revoked or has expired'),
      ]);
      const headers = { authorization: `Bearer ${secret}` };
      expect((await fetch(`${bed.api.url}/v1/pastes`, { headers })).status).toBe(401);
    });

    it('needs a key that nobody guesses', async () => {
      expect((await send({ ...fields, form_key: '1' })).status).toBe(422);
    });
  });

  it('says to who signed in at the identity provider that there are none, and makes the first one', async () => {
    const userId = await ensureUser(bed.db, randomUUID());
    const cookie = `pasteflow=${await beginSession(bed.db, { userId, tokenId: null })}`;
    expect(await (await browseAs(bed.api, cookie, '/my/tokens')).text()).toContain('You have no tokens.');
    const made = await browseAs(bed.api, cookie, '/my/tokens', ownForm(bed.api.url, fields));
    expect(secretIn(await made.text())).toBeDefined();
  });

  it('proposes the name of the address, which it escapes', async () => {
    const markup = await (await browse('/my/tokens?name=%22%3E%3Cscript%3E')).text();
    expect(markup).toContain('name="name" value="&quot;&gt;&lt;script&gt;"');
    expect((await browse(`/my/tokens?name=${'x'.repeat(101)}`)).status).toBe(422);
  });

  it('revokes a token, and says what to do about one that was revoked before', async () => {
    const own = await newUser(bed.db);
    await send(fields, own);
    const markup = await (await browse('/my/tokens', {}, own)).text();
    const [, id = ''] = /name="id" value="([^"]+)"[^>]*>Revoke the token a &lt;b&gt;</.exec(markup)!;
    const revoke = (by: TestUser) => browse('/my/tokens/revoke', ownForm(bed.api.url, { id }), by);
    expect((await revoke(user)).status).toBe(404);
    const answer = await revoke(own);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/my/tokens']);
    const again = await revoke(own);
    expect([again.status, await again.text()]).toEqual([404, expect.stringContaining('revoked before')]);
  });

  it('shows no form and no button to a browser that a made token has signed in', async () => {
    const markup = await (await browse('/my/tokens', {}, writer)).text();
    expect(markup).toContain('You have signed in with a token that you made yourself.');
    expect(markup).not.toMatch(/name="id"|Make the token/);
  });

  it('takes no form of another site, and none that breaks a rule', async () => {
    const cookie = await signedInWith(bed.db, user.token);
    for (const path of ['/my/tokens', '/my/tokens/revoke']) {
      const foreign = ownForm('https://evil.example', { ...fields, id: writer.id });
      expect((await browseAs(bed.api, cookie, path, foreign)).status).toBe(403);
    }
    for (const wrong of [{ expires_in: 'soon' }, { expires_in: '' }, { scope: 'full' }, { name: '' }])
      expect((await send({ ...fields, ...wrong })).status).toBe(422);
  });
});
