import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { ownPage } from './support/http.ts';
import { countPastes, failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let owner: TestUser;
let cookie: string;
beforeAll(async () => {
  owner = await newUser(bed.db);
  cookie = await signedInWith(bed.db, owner.token);
});

const newSlug = () => `slug-${randomBytes(6).toString('hex')}`;
const signedIn = () => ({ ...BROWSER, cookie });
const pageAt = async (path: string, headers: Record<string, string> = signedIn()) =>
  await (
    await fetch(bed.api.url + path, { headers: { ...headers, 'sec-fetch-site': 'same-origin' } })
  ).text();

/** The form at `/`, as a browser without JavaScript sends it. */
function submit(fields: Readonly<Record<string, string | Blob>>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return fetch(`${bed.api.url}/`, {
    method: 'POST',
    headers: { ...signedIn(), ...ownPage(bed.api.url) },
    body,
  });
}

async function takenSlug(): Promise<string> {
  const slug = newSlug();
  await newPaste(bed.db, 'x', { userId: owner.id, slug });
  return slug;
}

const inputOf = (markup: string) => /<input id="slug"[^>]*>/.exec(markup)?.[0] ?? '';
const errorOf = (markup: string) => /<p id="slug-error"[^>]*>([^<]*)<\/p>/.exec(markup)?.[1];

describe('the form for a new paste', () => {
  it('has a field for the slug for those who are signed in, with the rule for the browser', async () => {
    const markup = await pageAt('/');
    const [, pattern = ''] = /pattern="([^"]+)"/.exec(inputOf(markup)) ?? [];
    for (const [slug, isSlug] of Object.entries({ 'a-b': true, '-ab': false, 'ab-': false, 'A-b': false }))
      expect([slug, new RegExp(`^(?:${pattern})$`, 'v').test(slug)]).toEqual([slug, isSlug]);
    expect(errorOf(markup)).toBe('');
    expect(await pageAt('/', BROWSER)).not.toContain('id="slug"');
  });

  it('creates a paste with a slug without JavaScript, and one without a slug when the field is empty', async () => {
    const slug = newSlug();
    const created = await submit({ text: 'hello', title: '', syntax: '', slug });
    expect([created.status, await created.text()]).toEqual([
      201,
      expect.stringContaining(`value="${bed.api.url}/~${slug}"`),
    ]);
    expect((await submit({ text: 'hello', slug: '' })).status).toBe(201);
  });

  it('says beside the field that a slug is taken, and keeps everything that was entered', async () => {
    const [slug, before] = [await takenSlug(), await countPastes(bed.db)];
    const text = '\n</textarea><script>alert(1)</script>\nsecond line';
    const response = await submit({
      text,
      title: '"><b>',
      syntax: 'rust',
      expires_in: '3600',
      visibility: 'private',
      burn: 'true',
      slug,
      content: new Blob([]),
    });
    const markup = await response.text();
    expect(response.status).toBe(409);
    expect(errorOf(markup)).toBe('This name is taken by another paste; choose another one.');
    expect(inputOf(markup)).toMatch(new RegExp(`value="${slug}".*aria-invalid="true"`));
    // HTML leaves out the first newline of a text area.
    expect(markup).toContain(
      '>\n\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;\nsecond line</textarea>',
    );
    expect(markup).toContain('value="&quot;&gt;&lt;b&gt;"');
    for (const chosen of ['rust', '3600', 'private']) expect(markup).toContain(`value="${chosen}" selected`);
    expect(markup).toMatch(/<input id="burn"[^>]* checked>/);
    expect(markup).not.toContain('<script>alert');
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('shows the rule beside the field when a slug breaks the rule, and asks for the file again', async () => {
    const response = await submit({ content: new Blob(['x']), slug: 'No Slug' });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(errorOf(markup)).toContain('must have 3 to 64 characters');
    expect(inputOf(markup)).toContain('value="No Slug"');
    expect(markup).toContain('choose them again');
  });

  it('does not repeat a long text: the browser has it', async () => {
    const response = await submit({ text: 'x'.repeat(256 * 1024 + 1), slug: await takenSlug() });
    const markup = await response.text();
    expect([response.status, markup.length < 20_000]).toEqual([409, true]);
    expect(markup).toContain('data-field="slug"');
  });

  it('names the field on the page of a refusal that its script reads', async () => {
    const response = await fetch(`${bed.api.url}/?slug=${await takenSlug()}`, {
      method: 'POST',
      headers: { ...signedIn(), ...ownPage(bed.api.url), 'content-type': 'application/octet-stream' },
      body: 'x',
    });
    expect(await response.text()).toContain(
      '<li data-field="slug"><strong>Name in the link (optional)</strong> <span>This name is taken by another paste; choose another one.</span></li>',
    );
  });

  it('keeps the form without the field of the slug when nobody is signed in', async () => {
    const body = new FormData();
    body.set('text', 'kept <text>');
    body.set('slug', newSlug());
    const response = await fetch(`${bed.api.url}/`, { method: 'POST', headers: BROWSER, body });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(markup).toContain('can be chosen only with a token');
    expect(markup).toContain('>\nkept &lt;text&gt;</textarea>');
    expect(markup).not.toContain('name="slug"');
  });

  it('still answers another refusal with its own page', async () => {
    const response = await submit({ text: '', slug: newSlug() });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(markup).not.toContain('<textarea');
  });
});

describe('the pages of a paste with a slug', () => {
  const named = async (make: (of: { userId: string; slug: string }) => Promise<string>) => {
    const slug = newSlug();
    return { slug, code: await make({ userId: owner.id, slug }) };
  };

  it('show the slug, at either address', async () => {
    const { slug, code } = await named((of) => processedPaste(bed, 'hello', of));
    for (const path of [`/~${slug}`, `/${code}`, `/~${slug}.md`])
      expect([path, await pageAt(path)]).toEqual([
        path,
        expect.stringContaining(`<a href="${bed.api.url}/~${slug}" dir="ltr">~${slug}</a>`),
      ]);
    const without = await processedPaste(bed, 'hello', { userId: owner.id });
    expect(await pageAt(`/${without}`)).not.toContain('/~');
  });

  it('list the slug among the own pastes', async () => {
    const { slug } = await named((of) => newPaste(bed.db, 'hello', of));
    expect(await pageAt('/my/pastes')).toContain(`<a href="/~${slug}"><bdi>~${slug}</bdi></a>`);
  });

  it('reveal and delete at the address with the slug', async () => {
    const burning = await named((of) => processedPaste(bed, 'the secret', { ...of, burn: true }));
    expect(await pageAt(`/~${burning.slug}`)).toContain('Reveal the text');
    const revealed = await fetch(`${bed.api.url}/~${burning.slug}`, {
      method: 'POST',
      headers: { ...BROWSER, ...ownPage(bed.api.url) },
    });
    expect(await revealed.text()).toContain('the secret');
    const { slug } = await named((of) => processedPaste(bed, 'hello', of));
    const deleted = await fetch(`${bed.api.url}/~${slug}/delete`, {
      method: 'POST',
      headers: { ...signedIn(), ...ownPage(bed.api.url) },
      body: new FormData(),
    });
    expect(deleted.status).toBe(200);
    expect((await fetch(`${bed.api.url}/~${slug}`)).status).toBe(410);
  });

  it('say that an upload has failed, and that nobody has a name', async () => {
    const { slug } = await named((of) => failedPaste(bed.db, of));
    expect(await pageAt(`/~${slug}`)).toContain('The upload of this paste failed');
    expect(await pageAt(`/~${newSlug()}`)).toContain('There is no paste at this address');
  });
});
