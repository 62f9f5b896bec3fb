import { beforeAll, describe, expect, it } from '@jest/globals';
import { routesOf } from '../src/app.ts';
import type { ApiContext } from '../src/context.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { ownPage } from './support/http.ts';
import { countPastes } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

const bed = useApi();

let user: TestUser;
let other: TestUser;
let cookie: string;
beforeAll(async () => {
  [user, other] = [await newUser(bed.db), await newUser(bed.db)];
  cookie = await signedInWith(bed.db, user.token);
});

const NOBODY = '';
/** These say who somebody is, or concern nobody. */
const FOR_ANYBODY = ['/session', '/session/end', '/invitation/:secret', '/language'];

interface Sent {
  readonly cookie?: string | null;
  readonly path?: string;
  readonly isMultipart?: boolean;
}

async function send(
  fields: Readonly<Record<string, string>>,
  { cookie: of = cookie, path = '/', isMultipart = true }: Sent = {},
): Promise<Response> {
  const body = isMultipart ? new FormData() : new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const init = { method: 'POST', headers: ownPage(bed.api.url), body };
  return await browseAs(bed.api, of ?? 'none=1', path, init);
}

describe('a form that is for another user', () => {
  it('is refused wherever there is a form of a page, before it does anything', async () => {
    const forms = Object.entries(routesOf({ jobTypes } as ApiContext)).flatMap(([path, { POST: endpoint }]) =>
      endpoint !== undefined && 'policy' in endpoint && !FOR_ANYBODY.includes(path) ? [path] : [],
    );
    expect(forms.length).toBeGreaterThanOrEqual(11);
    for (const template of forms) {
      const path = template.replaceAll(/:[^/]+/g, 'x');
      const { init } = await accessTable[`POST ${template}`]![0]!.prepare(bed, user);
      const isMultipart = init?.body instanceof FormData;
      for (const form_user of [other.id, NOBODY]) {
        const response = await send({ form_user }, { path, isMultipart });
        const refused = [
          template,
          response.status,
          (await response.text()).includes('have signed in or out'),
        ];
        expect(refused).toEqual([template, 409, true]);
      }
      const own = await send({ form_user: user.id }, { path, isMultipart });
      expect([template, await own.text()]).toEqual([
        template,
        expect.not.stringContaining('signed in or out'),
      ]);
    }
  });

  it('is said by every form of a page', async () => {
    const { short_code } = (await (
      await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: 'x', headers: user.headers })
    ).json()) as { short_code: string };
    const job = await send(
      { form_user: user.id, format: 'zip' },
      { path: '/my/jobs/export', isMultipart: false },
    );
    for (const path of [
      '/',
      job.headers.get('location')!,
      '/my/pastes',
      '/my/jobs',
      '/my/tokens',
      '/my/account',
      '/my/sessions',
      `/${short_code}`,
      `/${short_code}/report`,
    ]) {
      const markup = await (await browseAs(bed.api, cookie, path)).text();
      const posts = [...markup.matchAll(/<form[^>]* method="post" action="([^"?]+)[\s\S]*?<\/form>/g)];
      const silent = posts.filter(([form]) => !form.includes(`name="form_user" value="${user.id}"`));
      expect([path, silent.map(([, action]) => action)]).toEqual([path, ['/session/end', '/language']]);
    }
    const markup = await (await browseAs(bed.api, 'none=1', '/')).text();
    expect(markup).toContain('name="form_user" value=""');
  });

  it.each([
    ['another user', () => ({ form_user: other.id }), () => cookie, 'Create as'],
    ['nobody', () => ({ form_user: NOBODY }), () => cookie, 'Create as'],
    ['a user who is no longer signed in', () => ({ form_user: user.id }), () => null, 'without signing in'],
  ])('creates nothing for %s, and keeps the text and the options', async (_name, forUser, as, button) => {
    const before = await countPastes(bed.db);
    const entered = { text: 'a <text>', title: 'Kept', visibility: 'private' };
    const response = await send({ ...forUser(), ...entered }, { cookie: as() });
    const markup = await response.text();
    expect(response.status).toBe(409);
    expect(markup).toContain('>\na &lt;text&gt;</textarea>');
    expect(markup).toContain('value="Kept"');
    expect(markup).toContain(button);
    expect(await countPastes(bed.db)).toBe(before);
    // Sending what is shown is the answer of the one who reads it.
    const [, now = 'none'] = /name="form_user" value="([^"]*)"/.exec(markup)!;
    expect((await send({ form_user: now, text: 'a text' }, { cookie: as() })).status).toBe(201);
  });

  it('creates nothing for what a script sends', async () => {
    const before = await countPastes(bed.db);
    const init = {
      method: 'POST',
      headers: { ...ownPage(bed.api.url), 'form-user': user.id },
      body: 'a text',
    };
    const response = await browseAs(bed.api, 'none=1', '/?visibility=private', init);
    expect([response.status, await response.text()]).toEqual([
      409,
      expect.stringContaining('id="other-user"'),
    ]);
    expect(await countPastes(bed.db)).toBe(before);
    expect((await browseAs(bed.api, cookie, '/?visibility=private', init)).status).toBe(201);
  });
});
