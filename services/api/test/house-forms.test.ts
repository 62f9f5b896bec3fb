import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { wordsIn } from '@pasteflow/web';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';
import { rawGet } from './support/raw-get.ts';
import { BROWSER, browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const DAY = 86_400;
const bed = useApi({
  house: {
    expiry: { default: 7 * DAY, max: 14 * DAY, never: false },
    anonymous: { max_expiry: DAY, max_bytes: 2048, burn_only: true },
  },
});

let user: TestUser;
let cookie = '';
beforeAll(async () => {
  user = await newUser(bed.db);
  cookie = await signedInWith(bed.db, user.token);
});
const NOBODY = 'none=1';

const show = async (who: string, path: string, api: RunningApi = bed.api) => {
  const response = await browseAs(api, who, path);
  return { status: response.status, markup: await response.text() };
};

describe('a form in a house with rules', () => {
  it('offers a stranger less than a member', async () => {
    const stranger = (await show(NOBODY, '/')).markup;
    expect(stranger).toContain('<option value="86400" selected>');
    expect(stranger).not.toContain('<option value="604800"');
    expect(stranger).toContain('data-max-bytes="2048"');
    expect(stranger).toContain('name="burn" value="true"');
    const member = (await show(cookie, '/')).markup;
    expect(member).toContain('<option value="604800" selected>');
    expect(member).toContain('<option value="1209600">14 days</option>');
    expect(member).not.toContain('value="never"');
    expect(member).not.toContain('data-max-bytes="2048"');
  });

  it('imports by the rules for members', async () => {
    const [, markup] = /action="\/my\/jobs\/import"(.*?)<\/form>/s.exec(
      (await show(cookie, '/my/jobs')).markup,
    )!;
    expect([...markup!.matchAll(/<option value="(\w+)"( selected)?>/g)].map(([option]) => option)).toEqual(
      expect.arrayContaining(['<option value="604800" selected>', '<option value="1209600">']),
    );
    for (const refused of ['2592000', 'never']) expect(markup).not.toContain(`value="${refused}"`);
  });

  it('edits the paste of nobody for members alone: no newer version is read only once', async () => {
    const code = await processedPaste(bed, 'text');
    expect((await show(NOBODY, `/${code}`)).markup).not.toContain(`href="/${code}/edit"`);
    const asked = await show(NOBODY, `/${code}/edit`);
    expect([asked.status, asked.markup.includes('id="token"')]).toEqual([401, true]);
    expect((await show(cookie, `/${code}`)).markup).toContain(`href="/${code}/edit"`);
    expect((await show(cookie, `/${code}/edit`)).status).toBe(200);
  });
});

describe('a form that breaks a rule', () => {
  /** As a browser without JavaScript sends it. */
  const submit = (path: string, fields: Readonly<Record<string, string>>, who = NOBODY, language = 'de') => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const headers = { 'accept-language': language, origin: bed.api.url };
    return browseAs(bed.api, who, path, { method: 'POST', body, headers });
  };

  it.each([
    ['expires_in', { expires_in: 'never', burn: 'true' }, '<span>Höchstens 1 Tag.</span>'],
    ['burn', { expires_in: '3600' }, `<span>${wordsIn('de').form.burnOnly}</span>`],
    [
      'content',
      { expires_in: '3600', burn: 'true', long: 'x'.repeat(2048) },
      '<span>Höchstens 2,0 KiB.</span>',
    ],
  ])('keeps what was entered, and says why in the language of the page: %s', async (field, fields, why) => {
    const { long = '', ...options } = fields as Readonly<Record<string, string>>;
    const response = await submit('/', { text: `kept <text>${long}`, title: 'Kept title', ...options });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(markup).toMatch(new RegExp(`<li data-field="${field}"><strong>[^<]+</strong> ${why}</li>`));
    expect(markup).toContain(`>\nkept &lt;text&gt;${long}</textarea>`);
    expect(markup).toContain('value="Kept title"');
    expect(markup).toContain(`<option value="${fields.expires_in === '3600' ? 3600 : 86_400}" selected>`);
  });

  it('is created when it is sent as the page offers it', async () => {
    const [, markup] = /<form id="new-paste"(.*?)<\/form>/s.exec((await show(NOBODY, '/')).markup)!;
    const hidden = [...markup!.matchAll(/<input[^>]* type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const fields = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
    const [, chosen] = /<option value="(\d+)" selected>/.exec(markup!)!;
    const created = await submit('/', { ...fields, text: 'short', expires_in: chosen! });
    expect(created.status).toBe(201);
  });

  it('of an import says why in the language of the page', async () => {
    const fields = { form_user: user.id, file: '{"content":"a"}', expires_in: '31536000' };
    const response = await submit('/my/jobs/import', fields, cookie);
    const { labels } = wordsIn('de').form;
    expect([response.status, await response.text()]).toEqual([
      422,
      expect.stringContaining(`<strong>${labels.expires_in}</strong> <span>Höchstens 14 Tage.</span>`),
    ]);
  });

  it('of a change keeps what was entered, by the rules of the owner of the paste', async () => {
    const [own, nobodys] = [
      await processedPaste(bed, 'a', { userId: user.id }),
      await processedPaste(bed, 'b'),
    ];
    for (const [code, who, longest] of [
      [own, cookie, '14 Tage'],
      [nobodys, NOBODY, '1 Tag'],
    ] as const) {
      const fields = { title: 'Kept title', expires_in: '31536000', delete_token: 'the token' };
      const { headers, ...init } = ownForm(bed.api.url, fields);
      const language = { 'accept-language': 'de' };
      const response = await browseAs(bed.api, who, `/${code}/change`, {
        ...init,
        headers: { ...(headers as Record<string, string>), ...language },
      });
      const markup = await response.text();
      expect([response.status, markup.includes(`<span>Höchstens ${longest}.</span>`)]).toEqual([422, true]);
      expect(markup).toContain('value="Kept title"');
    }
  });
});

describe('where pastes are created by members alone', () => {
  let closed: RunningApi;
  beforeEach(async () => {
    closed = await bed.start({ env: { ANONYMOUS_PASTES: 'deny' }, house: { name: 'The House' } });
  });

  it('a stranger begins nothing that could not be sent, and is led to sign in', async () => {
    for (const path of ['/', '/?secret', '/?text=shared']) {
      const { status, markup } = await show(NOBODY, path, closed);
      expect([path, status]).toEqual([path, 200]);
      expect(markup).not.toContain('<textarea');
      expect(markup).toContain('The House keeps a text');
      expect(markup).toContain(`href="/session?next=${encodeURIComponent(path)}"`);
    }
    const { status, markup } = await show(cookie, '/', closed);
    expect([status, markup.includes('<textarea')]).toEqual([200, true]);
  });

  it('a link in a chat leads a member to the form, and anybody to a paste', async () => {
    const arriving = { ...BROWSER, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const arrived = await rawGet(`${closed.url}/`, arriving);
    expect(arrived.body.toString()).toMatch(/<script type="module" src="\/assets\/arrival-\w+\.js">/);
    const code = await processedPaste(bed, 'text');
    expect((await rawGet(`${closed.url}/?${code}`, arriving)).headers.location).toBe(`/${code}`);
    expect((await rawGet(`${closed.url}/${code}`, arriving)).status).toBe(200);
  });

  it.each(['new', 'edit'])(
    'a stranger who opens /CODE/%s signs in first, or goes back to the paste',
    async (page) => {
      const code = await processedPaste(bed, 'text');
      const asked = await show(NOBODY, `/${code}/${page}`, closed);
      expect([asked.status, asked.markup.includes('id="token"')]).toEqual([401, true]);
      expect(asked.markup).toContain(`<a class="button" href="/${code}">Back to the paste</a>`);
      expect(asked.markup).not.toContain('/session/end?next=');
      expect((await show(cookie, `/${code}/${page}`, closed)).status).toBe(200);
    },
  );
});
