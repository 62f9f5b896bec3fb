import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import { pasteRow, processedPaste, type Ownership } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
const NOBODY = 'none=1';

let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

const own = (of: Ownership = {}) => processedPaste(bed, 'content', { userId: owner.id, ...of });
/** By another program of the owner. */
const change = (code: string, body: object) =>
  fetch(`${bed.api.url}/v1/pastes/${code}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...owner.headers },
    body: JSON.stringify(body),
  });

describe('the form of a change', () => {
  const submit = (code: string, cookie: string, fields: Readonly<Record<string, string>>) => {
    const { headers, ...init } = ownForm(bed.api.url, fields);
    return browseAs(bed.api, cookie, `/${code}/change`, { ...init, headers: headers as Headers });
  };

  it('shows the owner what the paste has, and changes it without JavaScript', async () => {
    const cookie = await signedInWith(bed.db, owner.token);
    const code = await own();
    await change(code, { title: '<b>"quoted"', syntax: 'py' });
    const markup = await (await browseAs(bed.api, cookie, `/${code}/change`)).text();
    expect(markup).toContain('value="&lt;b&gt;&quot;quoted&quot;"');
    expect(markup).toContain('<option value="python" selected>');
    expect(await (await browseAs(bed.api, cookie, `/${code}`)).text()).toContain(`href="/${code}/change"`);
    const { expires_at } = (await pasteRow(bed.db, code))!;
    const fields = { title: 'New', syntax: '', expires_in: '', visibility: 'private' };
    const kept = await submit(code, cookie, fields);
    expect([kept.status, kept.headers.get('location')]).toEqual([303, `/${code}`]);
    expect(await pasteRow(bed.db, code)).toMatchObject({
      title: 'New',
      syntax: null,
      visibility: 'private',
      expires_at,
    });
    await submit(code, cookie, { title: 'New', expires_in: 'never' });
    expect(await pasteRow(bed.db, code)).toMatchObject({ title: 'New', expires_at: null });
  });

  it('asks for the delete token of an anonymous paste, and refuses another one', async () => {
    const code = await processedPaste(bed, 'content');
    const [first, menu] = (await (await browseAs(bed.api, NOBODY, `/${code}`)).text()).split(
      '<details class="menu">',
    );
    expect([first, menu].map((each) => each?.includes(`href="/${code}/change"`))).toEqual([false, true]);
    const markup = await (await browseAs(bed.api, NOBODY, `/${code}/change`)).text();
    expect([markup.includes('id="delete_token"'), markup.includes('id="visibility"')]).toEqual([true, false]);
    const wrong = await submit(code, '', { title: 'x', delete_token: 'a guess' });
    expect([wrong.status, await wrong.text()]).toEqual([
      401,
      expect.stringContaining('not the delete token'),
    ]);
    expect((await submit(code, '', { title: 'x', delete_token: 'the token' })).status).toBe(303);
    expect(await pasteRow(bed.db, code)).toMatchObject({ title: 'x' });
  });

  it('changes what differs from what it has shown, so that another change in between stays', async () => {
    const cookie = await signedInWith(bed.db, owner.token);
    const code = await own();
    await change(code, { title: 'First', syntax: 'py' });
    const markup = await (await browseAs(bed.api, cookie, `/${code}/change`)).text();
    const shown = Object.fromEntries(
      [...markup.matchAll(/name="(before_\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
    );
    expect(shown).toEqual({ before_title: 'First', before_syntax: 'python', before_visibility: 'unlisted' });
    await change(code, { title: 'Changed meanwhile' });
    const fields = { ...shown, title: 'First', syntax: 'python', visibility: 'private', expires_in: '' };
    expect((await submit(code, cookie, fields)).status).toBe(303);
    expect(await pasteRow(bed.db, code)).toMatchObject({
      title: 'Changed meanwhile',
      syntax: 'py',
      visibility: 'private',
    });
  });

  it('keeps what was entered when the delete token is wrong, and shows the token to nobody', async () => {
    const code = await processedPaste(bed, 'content');
    const fields = { before_title: '', title: 'My "title"', expires_in: '604800', delete_token: 'a guess' };
    const markup = await (await submit(code, NOBODY, fields)).text();
    expect(markup).toContain('value="My &quot;title&quot;"');
    expect(markup).toContain('<input type="hidden" name="before_title" value="">');
    expect(markup).toContain('<option value="604800" selected>');
    expect(markup).not.toContain('a guess');
  });

  it('shows a stranger nothing of what an owner has', async () => {
    const code = await own({ visibility: 'private' });
    expect((await submit(code, NOBODY, { title: 'x', delete_token: 'a guess' })).status).toBe(404);
    const open = await own();
    await change(open, { title: 'Of the owner' });
    const refused = await submit(open, NOBODY, { title: 'x', delete_token: 'a guess' });
    expect([refused.status, (await refused.text()).includes('before_title')]).toEqual([401, false]);
  });
});
