import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { ownPage } from './support/http.ts';
import { pasteRow, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

const HTML = { accept: 'text/html' };
const get = (code: string, headers: Record<string, string> = {}, end = '/new') =>
  fetch(`${bed.api.url}/${code}${end}`, { headers });
const idOf = async (code: string): Promise<string> => (await pasteRow(bed.db, code))!.id;

describe('the form for a paste that is made from another', () => {
  const form = async (code: string, headers: Record<string, string> = {}) =>
    await get(code, { ...HTML, ...headers }, '/new');

  it('has the text, escaped, and a checkbox that names the parent', async () => {
    const code = await processedPaste(bed, '\n</textarea><script>alert(1)</script>\n');
    const answer = await form(code);
    const markup = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(markup).toContain('>\n\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n</textarea>');
    expect(markup).toContain(`name="parent" type="checkbox" value="${code}" checked`);
    expect(await (await get(code, HTML, '')).text()).toContain(`href="/${code}/new"`);
  });

  it('leaves a long text to the script, and bytes that are no text away', async () => {
    const long = await processedPaste(bed, 'x'.repeat(256 * 1024 + 1));
    expect(await (await form(long)).text()).toContain(`data-from="/v1/pastes/${long}/content"`);
    const bytes = await processedPaste(bed, Buffer.from([255, 254]));
    const markup = await (await form(bytes)).text();
    expect(markup).toContain('is not text');
    expect(markup).not.toContain('data-from');
  });

  it('keeps what was entered when the parent expires meanwhile, and then creates the paste without a parent', async () => {
    const code = await processedPaste(bed, 'old');
    await requestDeletion(bed.db, await idOf(code));
    const submit = (fields: Readonly<Record<string, string>>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return fetch(`${bed.api.url}/`, {
        method: 'POST',
        headers: { ...HTML, ...ownPage(bed.api.url) },
        body,
      });
    };
    const refused = await submit({ text: 'a long <new> text', title: 'Kept', syntax: 'rust', parent: code });
    const markup = await refused.text();
    expect(refused.status).toBe(422);
    expect(markup).toContain('You can no longer read the paste that you started from');
    expect(markup).toContain('a long &lt;new&gt; text</textarea>');
    expect(markup).toContain('value="Kept"');
    expect(markup).toContain('value="rust" selected');
    expect(markup).not.toContain('name="parent"');
    expect((await submit({ text: 'a long <new> text', title: 'Kept' })).status).toBe(201);
  });

  it('is refused as the paste itself', async () => {
    const secret = await processedPaste(bed, 'private', { userId: owner.id, visibility: 'private' });
    expect((await form(secret, owner.headers)).status).toBe(200);
    for (const headers of [{}, other.headers]) expect((await form(secret, headers)).status).toBe(404);
    expect((await form('doesNotExist')).status).toBe(404);
    const burn = await processedPaste(bed, 'the secret', { burn: true });
    const refused = await form(burn);
    expect([refused.status, await refused.text()]).toEqual([403, expect.not.stringContaining('the secret<')]);
    const gone = await processedPaste(bed, 'x');
    await requestDeletion(bed.db, await idOf(gone));
    expect((await form(gone)).status).toBe(410);
  });
});
