import { describe, expect, it } from '@jest/globals';
import { defaultHouse, optionNames, optionOf, storedOptionNames, valuesOf } from '@pasteflow/domain';
import { html } from '../src/html/html.ts';
import { page, PREFERENCES_SCRIPT, type Site } from '../src/html/layout.ts';
import { reportsPage } from '../src/operations/reports.ts';
import { codeTail } from '../src/pages/paste.ts';
import { createdPage } from '../src/pages/created.ts';
import { row } from '../src/pages/my-jobs.ts';
import { pastesForm } from '../src/pages/my-pastes.ts';
import { newPastePage } from '../src/pages/new-paste.ts';
import { problemPage } from '../src/pages/problem.ts';
import { timelineChart } from '../src/timeline/chart.ts';
import { wordsIn } from '../src/words/words.ts';

const site: Site = {
  base: '/p',
  styles: 'a > b { color: red }',
  asset: (name) => `/p/assets/${name}`,
  viewer: null,
  hasWebhooks: false,
  provider: null,
  house: {
    ...defaultHouse,
    links: { ...defaultHouse.links, abuse: 'abuse@example.org' },
    logo: null,
  },
  words: wordsIn('en'),
  again: null,
};
const hostile = `"><script>alert('x')</script>&lt;`;

describe('html', () => {
  it('escapes every value, in text and in attributes', () => {
    expect(html`<a title="${hostile}">${hostile}</a>`.markup).toBe(
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;lt;">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;lt;</a>',
    );
  });

  it('nests markup and lists, and prints nothing for absent values', () => {
    const items = ['a', '<b>'].map((each) => html`<li>${each}</li>`);
    expect(html`<ul>${items}</ul>${null}${undefined}${false}${0}`.markup).toBe(
      '<ul><li>a</li><li>&lt;b&gt;</li></ul>0',
    );
  });
});

describe('a page', () => {
  it('escapes its title and removes the marks that reorder the text of a tab', () => {
    const markup = page(site, { title: '<x>\u202egpj.exe', main: html`` });
    expect(markup).toContain('<title>&lt;x&gt;gpj.exe – Pasteflow</title>');
  });

  it('puts the path of the service in front of its links, and shows the contact for abuse', () => {
    const markup = page(site, { title: 'x', main: html``, scripts: ['paste.js'] });
    expect(markup).toContain('<script type="module" src="/p/assets/paste.js"></script>');
    expect(markup).toContain('href="/p/"');
    expect(markup).toContain('href="mailto:abuse@example.org"');
    expect(
      page({ ...site, house: { ...defaultHouse, logo: null } }, { title: 'x', main: html`` }),
    ).not.toContain('Report abuse');
  });

  it('has no script but that of the head, no style and no handler inside the document, which the policy would refuse', () => {
    const markup = page(site, { title: 'x', main: html`` });
    expect(markup.replace(`<script>${PREFERENCES_SCRIPT}</script>`, '')).not.toMatch(
      /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/,
    );
  });

  it('has its styles inside, as they are, when its reader probably does not have them yet', () => {
    const markup = page(site, { title: 'x', main: html``, hasStylesInside: true });
    expect(markup).toContain('<style>a > b { color: red }</style>');
    expect(markup).not.toContain('rel="stylesheet"');
  });
});

describe('a page from right to left', () => {
  const arabic: Site = { ...site, words: wordsIn('ar') };
  const time = '2026-01-01T00:00:00.000Z';

  it('has its warnings in its own direction, also among lines of code', () => {
    const { markup } = codeTail(arabic.words, { bidi: true, notUtf8: false, longLines: false, cut: false });
    expect(markup).toContain(`<p class="warning" role="note" dir="rtl">${arabic.words.paste.bidi}</p>`);
  });

  it('has an address from left to right, and the separator behind it in its own direction', () => {
    const options = valuesOf(storedOptionNames, { slug: '2026-notes', title: 'x' });
    const state = { status: 'PROCESSED', size_bytes: 1, created_at: time, expires_at: null } as const;
    const paste = { ...options, ...state, short_code: '12ab34cd56' };
    expect(pastesForm(arabic, [paste]).markup).toContain('<span><bdi dir="ltr">~2026-notes</bdi></span>');
  });

  it('has the times of a drawing in its own direction, and the drawing from left to right', () => {
    const none = { transitions: [], executions: [], retries: [] };
    const { markup } = timelineChart(arabic.words, none, time, new Date('2026-01-01T00:00:01Z'));
    expect(markup).toMatch(/<svg [^>]* direction="ltr"/);
    expect(markup).toMatch(/<text class="tick" direction="rtl"[^>]*>0 \u0645/);
  });

  it('has the id of a request from left to right', () => {
    const problem = { status: 500, code: 'internal', title: 'x', detail: 'x' };
    const help = { requestId: '12345678-abcd', signIn: null, timeline: null, paste: null };
    expect(problemPage(arabic, problem, help)).toContain('<code dir="ltr">12345678-abcd</code>');
  });
});

describe('the page of an error', () => {
  it('counts files from one', () => {
    const errors = [{ path: 'files.0.name', message: 'must not be empty' }];
    const problem = { status: 422, code: 'validation_failed', title: '', detail: 'See `errors`.', errors };
    const help = { requestId: '', signIn: null, timeline: null, paste: null };
    expect(problemPage(site, problem, help)).toContain('<strong>Name of the file 1</strong>');
  });
});

describe('the form for a new paste', () => {
  const controlsFor = (viewer: Site['viewer']): readonly string[] => {
    const markup = newPastePage({ ...site, viewer }, { maxPasteBytes: 1000 });
    return [...markup.matchAll(/<label(?: class="check")? for="(\w+)">/g)].map(([, name]) => name!);
  };
  const optionsOf = (controls: readonly string[]) =>
    controls.filter((name) => optionNames.some((option) => option === name));

  const withControl = (['beside', 'more'] as const).flatMap((place) =>
    optionNames.filter((name) => optionOf(name).control === place),
  );

  it('has a control for each option, in the order of the list at each place, and a word for it', () => {
    expect(
      optionsOf(
        controlsFor({ id: '1', name: 'kim', person: { name: 'kim', issuer: null }, onlyReads: false }),
      ),
    ).toEqual(withControl);
    for (const name of withControl) expect(wordsIn('en').form.labels).toHaveProperty(name);
  });

  it('of a secret has none that tells of the content, and the encryption before everything else', () => {
    const markup = newPastePage(site, { maxPasteBytes: 1000, isSecret: true });
    const sent = markup.replaceAll(/<fieldset[^>]* disabled>.*?<\/fieldset>/gs, '');
    const controls = [...sent.matchAll(/<label(?: class="check")? for="(\w+)">/g)].map(([, name]) => name!);
    expect(controls).toEqual(['burn', 'encrypt', 'password', 'file', 'expires_in']);
    expect(markup).toMatch(/<details id="more"[^>]* hidden>/); // it would be empty
    expect(markup).toMatch(/<button id="create"[^>]* disabled/); // until the script can encrypt
    expect(markup).not.toMatch(/id="encrypt"[^>]*checked/); // which no browser without the script could keep
  });

  it('has none for an option that needs an owner when nobody has signed in', () => {
    const expected = withControl.filter((name) => optionOf(name).needsOwner === undefined);
    expect(optionsOf(controlsFor(null))).toEqual(expected);
    expect(expected.length).toBeLessThan(withControl.length);
  });
});

describe('the page of a created paste', () => {
  const created = {
    url: 'https://paste.example.org/q7Zk2Lm9Xa',
    title: null,
    files: null,
    expires_at: null,
    visibility: 'unlisted',
    burn: true,
    encrypted: true,
    supersedes: null,
    deleteToken: null,
  } as const;
  const { next } = site.words.secret;

  it('says of a secret what to do with its link, and leads to the next secret', () => {
    const markup = createdPage(site, created);
    expect(markup).toContain(next);
    expect(markup).toContain('href="/p/?secret"');
    expect(createdPage(site, { ...created, visibility: 'private' })).not.toContain(next); // nobody else could read it
    const text = createdPage(site, { ...created, burn: false, encrypted: false });
    expect([text.includes(next), text.includes('?secret')]).toEqual([false, false]);
  });
});

describe('the progress of a job', () => {
  const job = {
    id: 'a',
    job_type: 'export',
    title: null,
    status: 'processing',
    isCancelled: false,
    progress: 10,
    error_message: null,
    created_at: '2026-11-27T12:00:00.000Z',
    completed_at: null,
  } as const;

  it.each([
    ['1200 pastes', 'Pastes: 1200'],
    ['3 of 10 entries', '3 von 10'],
    ['words of another job type', 'words of another job type'],
  ])('of %s is in the language of the page', (progress_message, shown) => {
    const markup = row({ ...site, words: wordsIn('de') }, { ...job, progress_message }).markup;
    expect(markup).toContain(`>${shown}</span>`);
  });
});

it('the queue of reports shows marks of direction in a text as their code points', () => {
  const paste = {
    shortCode: 'a',
    title: null,
    userId: null,
    fileCount: null,
    reporters: 1,
    oldestAt: '2026-11-27T12:00:00.000Z',
    classes: ['malware'],
    text: null,
    network: 'b',
    isHeld: false,
    firstLine: '"user\u202e <b>',
  };
  const shown = { pastes: [paste], total: 1, by: 'age', classes: [], class: null, network: null } as const;
  expect(reportsPage({ ...site, mayAct: false } as never, { ...shown, next: null })).toContain(
    '&quot;user[U+202E] &lt;b&gt;',
  );
});
