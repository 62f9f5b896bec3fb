import { describe, expect, it } from '@jest/globals';
import { defaultHouse } from '@pasteflow/domain';
import type { Site } from '../src/html/layout.ts';
import { changePage } from '../src/pages/change.ts';
import { newPastePage, type ShownOrigin } from '../src/pages/new-paste.ts';
import { editLink } from '../src/pages/newer-version.ts';
import { problemPage } from '../src/pages/problem.ts';
import { wordsIn } from '../src/words/words.ts';

const WEEK = 604_800;
const none = defaultHouse.anonymous;
const viewer = { id: 'u', name: 'ann', person: { name: 'Ann', issuer: null }, onlyReads: false };

type HouseRules = Partial<Pick<Site['house'], 'expiry' | 'anonymous'>>;

const siteOf = (rules: HouseRules, who: Site['viewer'] = null, language = 'en'): Site => ({
  base: '',
  styles: '',
  asset: (name) => `/assets/${name}`,
  viewer: who,
  hasWebhooks: false,
  provider: null,
  house: { ...defaultHouse, ...rules, logo: null },
  words: wordsIn(language),
  again: null,
});

/** The values that a form offers for a field, and the chosen one in brackets. */
function offered(markup: string, name = 'expires_in'): string {
  const [, options = ''] = new RegExp(`<select id="${name}"[^>]*>(.*?)</select>`, 's').exec(markup) ?? [];
  return [...options.matchAll(/<option value="([^"]*)"( selected)?/g)]
    .map(([, value = '', chosen]) => (chosen === undefined ? value : `[${value}]`))
    .join(' ');
}

const form = (site: Site, options: Partial<Parameters<typeof newPastePage>[1]> = {}): string =>
  newPastePage(site, { maxPasteBytes: 10_000, ...options });

const secretOf = (site: Site): string => form(site, { isSecret: true });

const changeOf = (site: Site, isAnonymous: boolean): string =>
  changePage(site, {
    short_code: 'q7Zk2Lm9Xa',
    title: null,
    syntax: null,
    visibility: 'unlisted',
    encrypted: false,
    expires_at: null,
    hasFiles: false,
    isAnonymous,
  });

const edited: ShownOrigin = {
  short_code: 'q7Zk2Lm9Xa',
  title: null,
  syntax: null,
  files: null,
  text: 'text',
  edit: { visibility: 'unlisted', supersedes: 'q7Zk2Lm9Xa', conflict: null, needsToken: false },
};

describe('the times that the forms offer', () => {
  const strict: HouseRules = {
    expiry: { default: 2 * WEEK, max: 12 * WEEK, never: false },
    anonymous: { ...none, maxExpiry: 5400 },
  };

  it('are the usual ones in a house without rules', () => {
    const usual = '3600 86400 604800 2592000 31536000 never';
    expect(offered(form(siteOf({})))).toBe(usual.replace('2592000', '[2592000]'));
    expect(offered(secretOf(siteOf({})))).toBe(usual.replace('86400', '[86400]'));
    expect(offered(form(siteOf({}), { origin: edited }))).toBe(` ${usual}`);
    expect(offered(changeOf(siteOf({}), true))).toBe(`[] ${usual}`);
  });

  it('are those that the house allows, with its own one, which is chosen, and its longest', () => {
    const site = siteOf(strict, viewer);
    expect(offered(form(site))).toBe('3600 86400 604800 [1209600] 2592000 7257600');
    expect(offered(secretOf(site))).toBe('3600 [86400] 604800 1209600 2592000 7257600');
    expect(offered(form(site, { origin: edited }))).toBe(' 3600 86400 604800 1209600 2592000 7257600');
    expect(offered(changeOf(site, false))).toBe('[] 3600 86400 604800 1209600 2592000 7257600');
  });

  it('are fewer for a paste without an owner', () => {
    const site = siteOf(strict);
    expect(offered(form(site))).toBe('3600 [5400]');
    expect(offered(secretOf(site))).toBe('3600 [5400]');
    expect(secretOf(site)).toContain('data-door="text" data-expires="5400"');
    expect(offered(changeOf(siteOf(strict, viewer), true))).toBe('[] 3600 5400');
  });

  it('begin with never, where the house keeps pastes for ever, but not those of strangers', () => {
    const expiry = { default: null, max: WEEK, never: true };
    expect(offered(form(siteOf({ expiry }, viewer)))).toBe('3600 86400 604800 [never]');
    expect(offered(form(siteOf({ expiry, anonymous: { ...none, maxExpiry: 86_400 } })))).toBe('3600 [86400]');
    const short = { default: null, max: 3600, never: true };
    expect(offered(secretOf(siteOf({ expiry: short }, viewer)))).toBe('[3600] never');
  });

  it('give way to the one that was entered, as long as the house still has it', () => {
    const refused = {
      text: 'kept',
      slugError: null,
      isParentMissing: false,
      hasBoth: false,
      hasOtherUser: false,
      problem: null,
      conflict: null,
    };
    const entered = (time: string) =>
      offered(form(siteOf(strict), { refused: { ...refused, fields: new Map([['expires_in', time]]) } }));
    expect(entered('3600')).toBe('[3600] 5400');
    expect(entered('never')).toBe('3600 [5400]');
  });

  it.each([
    ['en', '90 minutes', '84 days'],
    ['de', 'Nach 90 Minuten', 'Nach 84 Tagen'],
    ['fr', '90 minutes', '84 jours'],
    ['es', '90 minutos', '84 días'],
    ['ja', '90 分', '84 日'],
    ['ar', '90 دقيقة', '84 يومًا'],
  ])('have their names in %s', (language, minutes, days) => {
    const named = (who: Site['viewer']): string =>
      form(siteOf(strict, who, language)).replaceAll('\u00a0', ' ');
    expect(named(null)).toContain(`<option value="5400" selected>${minutes}</option>`);
    expect(named(viewer)).toContain(`<option value="7257600">${days}</option>`);
  });
});

describe('in a house where strangers only create what is deleted when it is read', () => {
  const anonymous = { ...none, burnOnly: true };
  const paste = {
    short_code: 'q7Zk2Lm9Xa',
    status: 'PROCESSED',
    isHeld: false,
    encrypted: false,
    burn: false,
    deletion: 'token' as const,
  };

  it('the form says so, also without JavaScript, and sends it', () => {
    for (const markup of [form(siteOf({ anonymous })), secretOf(siteOf({ anonymous }))]) {
      expect(markup).toMatch(
        /<input type="hidden" name="burn" value="true"><input id="burn" type="checkbox" disabled\s+aria-describedby="burn-hint" checked>/,
      );
      expect(markup).toContain(wordsIn('en').form.burnOnly);
    }
    expect(form(siteOf({ anonymous }))).toContain('<details id="more" class="more" open>');
  });

  it('a member chooses, and edits', () => {
    const markup = form(siteOf({ anonymous }, viewer));
    expect(markup).toMatch(
      /<input id="burn" name="burn" type="checkbox" value="true"\s+aria-describedby="burn-hint">/,
    );
    expect(markup).not.toContain(wordsIn('en').form.burnOnly);
    expect(editLink(siteOf({ anonymous }, viewer), paste)).not.toBe(false);
  });

  it('a stranger edits nothing, because a newer version can be read more than once', () => {
    expect(editLink(siteOf({ anonymous }), paste)).toBe(false);
    expect(editLink(siteOf({}), paste)).not.toBe(false);
  });
});

it('says how large a paste may be, by who creates it', () => {
  const anonymous = { ...none, maxBytes: 2048 };
  expect(form(siteOf({ anonymous }))).toContain('data-max-bytes="2048" data-too-large="At most 2.0 KiB."');
  expect(form(siteOf({ anonymous }, viewer))).toContain('data-max-bytes="10000"');
  expect(form(siteOf({ anonymous: { ...none, maxBytes: 20_000 } }))).toContain('data-max-bytes="10000"');
});

describe('a refusal', () => {
  const errors = [
    { path: 'expires_in', message: 'must be at most 86400 seconds for pastes without a token' },
    { path: 'burn', message: 'must be true: pastes without a token are deleted when they are read' },
    { path: 'content', message: 'must have at most 2048 bytes for pastes without a token' },
    { path: 'title', message: 'must have at most 200 characters' },
  ];
  const problem = { status: 422, code: 'validation_failed', title: 't', detail: 'See `errors`.', errors };
  const help = { requestId: 'r', signIn: null, timeline: null, paste: null };

  it('names the rules of the house in the language of the page', () => {
    const site = siteOf({ anonymous: { maxExpiry: 86_400, maxBytes: 2048, burnOnly: true } }, null, 'de');
    const shown = [...problemPage(site, problem, help).matchAll(/<li data-field.*?<\/strong> (.*?)<\/li>/g)];
    expect(shown.map(([, reason]) => reason)).toEqual([
      '<span>Höchstens 1 Tag.</span>',
      `<span>${site.words.form.burnOnly}</span>`,
      '<span>Höchstens 2,0 KiB.</span>',
      '<span lang="en" dir="ltr">must have at most 200 characters</span>',
    ]);
  });

  it('says what the API says where another rule is broken', () => {
    const others = [
      { path: 'expires_in', message: 'must be whole seconds from 60 to 31536000' },
      { path: 'burn', message: 'must be false for a newer version' },
      { path: 'content', message: 'must be a text' },
    ];
    const markup = problemPage(siteOf({}, null, 'de'), { ...problem, errors: others }, help);
    for (const { message } of others) expect(markup).toContain(`<span lang="en" dir="ltr">${message}</span>`);
  });
});
