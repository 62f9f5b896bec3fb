import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { ownPage } from './support/http.ts';
import { keyRows, newKey, wholeAnswer } from './support/keyed.ts';
import { countPastes } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();

/** The form at `/`, as a browser without JavaScript sends it. */
function submit(
  fields: Readonly<Record<string, string | Blob>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return fetch(`${bed.api.url}/`, {
    method: 'POST',
    headers: { accept: 'text/html', ...ownPage(bed.api.url), ...headers },
    body,
  });
}

const keyOf = (markup: string) => /name="form_key" value="([^"]+)"/.exec(markup)?.[1];
const linkOf = (markup: string) => /<input id="url" value="([^"]+)"/.exec(markup)?.[1];

describe('a form that is sent again', () => {
  it('gets the first page again, with its delete token, and creates nothing', async () => {
    const fields = { form_key: newKey(), text: 'a text', title: 'T', content: new Blob([]) };
    const before = await countPastes(bed.db);
    const first = await wholeAnswer(await submit(fields));
    expect(first).toMatchObject({ status: 201, replayed: false });
    expect(first.body.toString()).toContain('id="delete-token"');
    expect(await wholeAnswer(await submit(fields))).toEqual({ ...first, replayed: true });
    expect(await countPastes(bed.db)).toBe(before + 1);
  });

  it('creates one paste when both come at once', async () => {
    const fields = { form_key: newKey(), text: 'a double click' };
    const before = await countPastes(bed.db);
    const answers = await Promise.all([submit(fields), submit(fields), submit(fields)]);
    const links = await Promise.all(
      answers.filter(({ status }) => status === 201).map(async (answer) => linkOf(await answer.text())),
    );
    expect(new Set(links).size).toBe(1);
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect(await countPastes(bed.db)).toBe(before + 1);
  });

  it('says how to get the page while the first copy still runs', async () => {
    const fields = { form_key: newKey(), text: 'a double click' };
    let first: Promise<Response> | undefined;
    await bed.db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE pastes IN SHARE MODE`.execute(tx);
      first = submit(fields);
      await until(
        () => keyRows(bed.db),
        (rows) => rows.some(({ answer }) => answer === null),
      );
      const second = await submit(fields);
      expect([second.status, await second.text()]).toEqual([
        409,
        expect.stringContaining('The form was sent twice. Reload this page to get its answer'),
      ]);
    });
    const { body } = await wholeAnswer(await first!);
    expect(await wholeAnswer(await submit(fields))).toMatchObject({ body, replayed: true });
  });

  it.each([
    ['another text', { text: 'another text' }],
    ['another option', { text: 'a text', burn: 'true' }],
    ['another key', { text: 'a text', form_key: newKey() }],
  ])('creates another paste with %s', async (_name, changed) => {
    const form_key = newKey();
    const first = await submit({ form_key, text: 'a text' });
    const second = await submit({ form_key, ...changed });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(linkOf(await second.text())).not.toBe(linkOf(await first.text()));
  });

  it('counts its Idempotency-Key where it has one', async () => {
    const header = { 'idempotency-key': newKey() };
    const first = await wholeAnswer(await submit({ form_key: newKey(), text: 'a text' }, header));
    const again = await wholeAnswer(await submit({ form_key: newKey(), text: 'a text' }, header));
    expect(again).toEqual({ ...first, replayed: true });
    expect((await submit({ form_key: newKey(), text: 'another text' }, header)).status).toBe(422);
  });

  it('is refused with a key that is none', async () => {
    for (const form_key of ['', 'é', 'x'.repeat(256)])
      expect([form_key, (await submit({ form_key, text: 'x' })).status]).toEqual([form_key, 422]);
  });

  it('has a new key in each page', async () => {
    const page = async () =>
      keyOf(await (await fetch(bed.api.url, { headers: { accept: 'text/html' } })).text());
    const keys = [await page(), await page()];
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[0]).not.toBe(keys[1]);
  });
});

describe('a form with a text and a file', () => {
  it('is refused, says which choice there is, and keeps the text and the options', async () => {
    const form_key = newKey();
    const content = new File(['a file'], 'a.txt');
    const before = await countPastes(bed.db);
    const response = await submit({ form_key, text: 'a <text>', content, title: 'Kept', burn: 'true' });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(markup).toContain('The form had a text and a file');
    expect(markup).toContain('>\na &lt;text&gt;</textarea>');
    expect(markup).toContain('value="Kept"');
    expect(markup).toMatch(/<input id="burn"[^>]* checked>/);
    expect(keyOf(markup)).not.toBe(form_key);
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('is refused for programs with the name of the field', async () => {
    const content = new File(['a file'], 'a.txt');
    const response = await submit({ text: 'a text', content }, { accept: '*/*' });
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({
        errors: [{ path: 'content', message: expect.stringContaining('must be empty when') }],
      }),
    ]);
  });

  it('is refused for another reason with that reason, and keeps the text', async () => {
    const content = new File(['a file'], 'a.txt');
    const response = await submit({ text: 'a text', content, title: 'x'.repeat(201) });
    const markup = await response.text();
    expect(response.status).toBe(422);
    expect(markup).toContain('must have at most 200 characters');
    expect(markup).toContain('>\na text</textarea>');
  });
});
