import { describe, expect, it } from '@jest/globals';
import { languageNames, wordsIn } from '@pasteflow/web';
import { problemCodes } from '../src/http/answers/problem-codes.ts';
import { useApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { BROWSER, browseAs, cookieIn } from './support/sign-in.ts';

const bed = useApi();

const wanting = (language: string) =>
  fetch(`${bed.api.url}/`, { headers: { ...BROWSER, 'accept-language': language } });

async function languageOf(response: Response): Promise<string | undefined> {
  return /<html lang="(\w+" dir="\w+)">/.exec(await response.text())?.[1];
}

const choose = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) => {
  const form = ownForm(bed.api.url, fields);
  return fetch(`${bed.api.url}/language`, {
    ...form,
    headers: { ...BROWSER, ...(form.headers as Record<string, string>), ...headers },
    redirect: 'manual',
  });
};

describe('the language of the pages', () => {
  it.each([
    ['de-AT,de;q=0.9,en;q=0.5', 'de" dir="ltr'],
    ['zh-CN, fr-CA;q=0.8, en;q=0.7', 'fr" dir="ltr'],
    ['en;q=0.5, ja', 'ja" dir="ltr'],
    ['ar-EG', 'ar" dir="rtl'],
    ['es, de;q=0', 'es" dir="ltr'],
    ['pt-BR', 'en" dir="ltr'],
    ['*', 'en" dir="ltr'],
    ['de;q=x, ;;,', 'en" dir="ltr'],
  ])('for Accept-Language %j is %s', async (header, expected) => {
    expect(await languageOf(await wanting(header))).toBe(expected);
  });

  it('is English without the header', async () => {
    expect(await languageOf(await fetch(`${bed.api.url}/`, { headers: BROWSER }))).toBe('en" dir="ltr');
  });

  it('is no matter for programs', async () => {
    const headers = { 'accept-language': 'de', accept: 'application/json' };
    const problem = await problemOf(await fetch(`${bed.api.url}/v1/pastes/unknown123`, { headers }));
    expect(problem.title).toBe('Paste not found');
  });
});

describe('the choice of a language', () => {
  it('is kept for a year, also for links of other sites, and counts more than what the browser wants', async () => {
    const response = await choose({ language: 'de', next: '/docs?x=1' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/docs?x=1']);
    expect(response.headers.get('set-cookie')).toBe(
      'pasteflow-language=de; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000',
    );
    const headers = { 'accept-language': 'fr' };
    expect(await languageOf(await browseAs(bed.api, cookieIn(response), '/', { headers }))).toBe(
      'de" dir="ltr',
    );
  });

  it('leads to no other site, and takes no other language', async () => {
    const away = await choose({ language: 'ja', next: '//evil.example/' });
    expect(away.headers.get('location')).toBe('/');
    const unknown = await choose({ language: 'tlh', next: '/' });
    expect([unknown.status, unknown.headers.get('set-cookie')]).toEqual([422, null]);
    expect(await languageOf(await browseAs(bed.api, 'pasteflow-language=tlh', '/'))).toBe('en" dir="ltr');
    const headers = { 'accept-language': 'de' };
    expect(await languageOf(await browseAs(bed.api, 'pasteflow-language=tlh', '/', { headers }))).toBe(
      'de" dir="ltr',
    );
  });

  it('is refused to pages of other sites', async () => {
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const response = await choose({ language: 'de', next: '/' }, foreign);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it('works by http, where browsers say the origin of a form and nothing else of its sender', async () => {
    const body = new URLSearchParams({ language: 'de', next: '/' });
    const sent = { method: 'POST', body, headers: { ...BROWSER, origin: bed.api.url } };
    const response = await fetch(`${bed.api.url}/language`, { ...sent, redirect: 'manual' });
    expect([response.status, cookieIn(response)]).toEqual([303, 'pasteflow-language=de']);
  });

  it('is on every page that an address shows, with that address, and on no answer to a form', async () => {
    const shown = await (await fetch(`${bed.api.url}/session?next=/a%26b`, { headers: BROWSER })).text();
    expect(shown).toContain('name="next" value="/session?next=/a%26b"');
    const answer = await choose({ language: 'tlh', next: '/' });
    expect(await answer.text()).not.toContain('action="/language"');
  });
});

describe('a problem on a page', () => {
  it('is in the language of the page, above the text of the API, which has the figures', async () => {
    const headers = { ...BROWSER, 'accept-language': 'de' };
    const response = await fetch(`${bed.api.url}/unknown123`, { headers });
    const { title, detail } = wordsIn('de').problem.of['paste_not_found']!;
    const page = await response.text();
    expect(response.status).toBe(404);
    for (const text of [title, detail]) expect(page).toContain(text);
    expect(page).toMatch(/<p class="hint"><span lang="en" dir="ltr">[A-Z]/);
  });

  it('has a text in each language, whatever its code', () => {
    for (const { locale } of languageNames.slice(1))
      expect(Object.keys(wordsIn(locale).problem.of).toSorted()).toEqual(problemCodes.toSorted());
  });
});
