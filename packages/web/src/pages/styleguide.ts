import { languageNamed, storedOptionNames, valuesOf } from '@pasteflow/domain';
import { PasteLines } from '../content/paste-lines.ts';
import { choice, filterForm, pageLinks } from '../html/filter-form.ts';
import { html, Html, table } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { doors } from './doors.ts';
import { fileBlock } from './file-block.ts';
import { progress } from './my-job.ts';
import { row as jobRow, stateBadge, type OwnJob } from './my-jobs.ts';
import { nothing, pastesForm, type MyPastes, type OwnPaste } from './my-pastes.ts';
import { row as tokenRow } from './my-tokens.ts';
import { row as deliveryRow, type OwnDelivery } from './my-webhook.ts';
import { row as webhookRow, type OwnWebhook } from './my-webhooks.ts';
import { slugField } from './option-controls.ts';
import { moveForm } from './newer-version.ts';
import { deletion } from './deletion.ts';
import { heading } from './heading.ts';
import { bar, codeHead, codeTail } from './paste.ts';
import type { ShownPaste } from './shown-paste.ts';

const AT = '2026-11-21T12:00:00.000Z';

const PASTE: ShownPaste = {
  ...valuesOf(storedOptionNames, {
    slug: 'retries',
    title: 'retries.ts',
    syntax: 'typescript',
    visibility: 'private',
    parent: 'k3Yd8Qw1Zs',
  }),
  short_code: 'q7Zk2Lm9Xa',
  url: 'https://paste.example.org/~retries',
  status: 'PROCESSED',
  version: { number: 2, newest: 3 },
  newer: 'w9Tc4Vn2Kp',
  size_bytes: 2048,
  created_at: AT,
  expires_at: '2026-12-21T12:00:00.000Z',
  deletion: 'token',
  isHeld: false,
};

const LISTED: OwnPaste = { ...PASTE, visibility: 'unlisted' };

const JOB: OwnJob = {
  id: '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c70',
  job_type: 'import',
  title: 'notes.zip',
  status: 'processing',
  isCancelled: false,
  progress: 40,
  progress_message: '400 of 1000 entries',
  error_message: null,
  created_at: AT,
  completed_at: null,
};

const EMPTY: MyPastes = {
  pastes: [],
  title: null,
  status: null,
  visibility: null,
  syntax: null,
  sort: null,
  isCut: false,
  isFirst: true,
  next: null,
  deleted: null,
  usage: { pastes: null, stored_bytes: null },
};

const CODE = `const waits = [1, 2, 4, 8, 16]; // seconds\n\nexport function waitOf(attempt: number) {\n  return waits[attempt];\n}\n`;

/** Every part of the pages in its states, in development only. The parts are those that the pages call. */
export function styleguidePage(site: Site): string {
  const parts: readonly (readonly [name: string, part: Html])[] = [
    ['Buttons', buttons()],
    ['Badges', badges(site)],
    ['Fields', fields(site)],
    ['Doors of the form', doors(site, 'secret')],
    ['Files of the form', html`<div class="editor">${fileBlock(site.words, 'src/retries.ts', CODE)}</div>`],
    ['Messages', messages()],
    ['Heading with facts, toolbar and code', code(site)],
    ['Move of a slug', moveForm(site, 'q7Zk2Lm9Xa', { slug: 'retries', from: 'k3Yd8Qw1Zs' })],
    ['Filter', filter(site)],
    ['List of pastes', pastesForm(site, listed())],
    ['List of jobs', html`<ul class="rows">${jobs().map((job) => jobRow(site, job))}</ul>`],
    ['List of tokens', html`<ul class="rows">${tokens(site)}</ul>`],
    [
      'List of webhooks',
      html`<ul class="rows">${webhooks().map((each) => webhookRow(site, each, true))}</ul>`,
    ],
    [
      'List of deliveries',
      html`<ul class="rows">${deliveries().map((each) => deliveryRow(site, each, { path: '/x', now: 0 }))}</ul>`,
    ],
    ['Progress', progress(site, JOB)],
    ['Table', table('Attempts', ['State', 'Error'], rows())],
    ['Empty list', nothing(site, EMPTY)],
    ['List without a match', nothing(site, { ...EMPTY, title: 'x' })],
    ['Pages of a list', pageLinks(site, '/my/pastes', {}, { isFirst: false, next: 'x' })],
  ];
  return page(site, {
    title: 'Style guide',
    scripts: ['paste.js'],
    main: html`<h1>Style guide</h1>
${parts.map(([name, part]) => html`<section aria-label="${name}"><h2>${name}</h2>\n${part}</section>\n`)}`,
  });
}

function buttons(): Html {
  const looks = ['', 'primary', 'danger'].map(
    (look) =>
      html`<button type="button" class="${look}">${look || 'Quiet'}</button> <button type="button" class="${look}" disabled>Disabled</button> `,
  );
  return html`<p class="toolbar">${looks}<button type="button" aria-pressed="true">Pressed</button> <a class="button" href="#main">Link</a></p>`;
}

function badges({ words }: Site): Html {
  const states = (['queued', 'processing', 'completed', 'partial', 'failed'] as const).map((status) =>
    stateBadge(words, { ...JOB, status }),
  );
  const all = [...states, stateBadge(words, { ...JOB, isCancelled: true })];
  return html`<p>${all.map((badge) => html`${badge} `)}</p>`;
}

function fields({ words }: Site): Html {
  return html`<form class="narrow">${slugField(words, 'retries', null)}</form>
<form class="narrow">${renamed(slugField(words, 'Not a name', 'is taken'))}</form>
<div class="narrow"><div class="field"><label for="disabled">Disabled</label><input id="disabled" value="x" disabled></div>
${choice({ id: 'choice', label: 'Choice', any: 'Any' }, [['one', 'One']])}</div>`;
}

/** A page has one field of a name; this one has two. */
function renamed({ markup }: Html): Html {
  return new Html(markup.replaceAll(/"slug/g, '"refused').replaceAll(' slug-hint"', ' refused-hint"'));
}

function messages(): Html {
  return html`${['', 'attention', 'bad'].map((tone) => html`<p class="notice ${tone}">A message: ${tone || 'good'}.</p>\n`)}<p class="hint">A hint.</p>`;
}

function code(site: Site): Html {
  const language = languageNamed('typescript');
  const lines = new PasteLines();
  const text = lines.push(Buffer.from(CODE)) + lines.end();
  return html`${heading(site, PASTE, language)}
<p id="paste-status" role="status" class="hint"></p><p id="selected-lines" role="status"></p>
${codeHead(site, language, bar(site, PASTE, language))}${new Html(text)}${codeTail(site.words, { ...lines.warnings, bidi: true })}${deletion(site, PASTE)}`;
}

function filter(site: Site): Html {
  return filterForm(site, '/my/pastes', [
    choice({ id: 'status', label: 'Upload', any: 'Any' }, [['x', 'stored']]),
  ]);
}

function listed(): readonly OwnPaste[] {
  return [
    { ...LISTED, short_code: 'a1', visibility: 'private' },
    { ...LISTED, short_code: 'a2', slug: null, title: null, status: 'IN_PROGRESS', expires_at: null },
    { ...LISTED, short_code: 'a4', slug: null, title: null, firstWords: 'const waits = [1, 2, 4, 8, 16];' },
    { ...LISTED, short_code: 'a3', slug: null, title: 'A title without an end '.repeat(8), status: 'FAILED' },
  ];
}

function tokens({ words }: Site): readonly Html[] {
  const token = {
    id: 'a',
    name: 'laptop',
    scope: 'write',
    created: AT,
    lastUsed: AT,
    expires: null,
  } as const;
  return [
    tokenRow(words, token, true),
    tokenRow(
      words,
      { ...token, name: 'A name without an end '.repeat(4), scope: 'read', lastUsed: null },
      true,
    ),
    tokenRow(words, { ...token, name: 'npm start', scope: 'full' }, false),
  ];
}

function jobs(): readonly OwnJob[] {
  const ended = { completed_at: AT, progress_message: null };
  return [
    JOB,
    { ...JOB, ...ended, id: 'b', status: 'partial', error_message: '1 of 2 entries are not valid pastes.' },
    { ...JOB, ...ended, id: 'c', job_type: 'export', title: null, status: 'completed' },
  ];
}

function webhooks(): readonly OwnWebhook[] {
  const webhook: OwnWebhook = {
    id: 'a',
    url: 'https://hooks.example.com/pasteflow',
    events: ['paste.stored', 'job.ended'],
    switched_off_for: null,
    switched_off_at: null,
    failing_since: null,
    created_at: AT,
  };
  return [
    webhook,
    { ...webhook, url: `${webhook.url}/${'without-an-end-'.repeat(8)}`, failing_since: AT },
    { ...webhook, switched_off_for: 'gone', switched_off_at: AT },
  ];
}

function deliveries(): readonly OwnDelivery[] {
  const delivery: OwnDelivery = {
    id: 'a',
    type: 'paste.stored',
    data: { short_code: 'q7Zk2Lm9Xa' },
    happened_at: AT,
    status: 'DELIVERED',
    attempts: 1,
    next_attempt_at: null,
    answered: 204,
    reason: null,
    retry_of: null,
  };
  const reason = { class: 'endpoint_failed', text: 'did not answer in time' };
  return [
    { ...delivery, status: 'WAITING', attempts: 3, next_attempt_at: AT, answered: null, reason },
    { ...delivery, id: 'b', type: 'job.ended', data: { job_id: JOB.id }, retry_of: 'd' },
    {
      ...delivery,
      id: 'c',
      status: 'FAILED',
      attempts: 8,
      answered: 503,
      reason: { ...reason, text: 'answered 503' },
    },
  ];
}

function rows(): readonly Html[] {
  return [
    ['succeeded', ''],
    ['failed', 'The storage did not answer in time.'],
  ].map(
    ([state, error]) => html`<tr><td class="${state}">${state}</td><td class="title">${error}</td></tr>\n`,
  );
}
