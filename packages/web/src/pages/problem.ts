import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { brokenRule } from './house-rules.ts';

/** What the page of an error shows of the API's problem details. */
export interface ShownProblem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  /** May name `errors`, which programs see; the page shows them below. */
  readonly detail: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

/** What helps the reader of the page of an error to go on. */
interface ProblemHelp {
  readonly requestId: string;
  /** The path that leads to the page after signing in; null: that would change nothing. */
  readonly signIn: string | null;
  /**
   * The path of the timeline that says what happened to the paste; null: the problem is about no paste that
   * has one.
   */
  readonly timeline: string | null;
  /** The path of the paste that the visitor can read, and where the form was; null: there is none. */
  readonly paste: string | null;
}

export function problemPage(
  site: Site,
  problem: ShownProblem,
  { requestId, signIn, timeline, paste }: ProblemHelp,
): string {
  const { status, code } = problem;
  const { words } = site;
  if (code === 'paste_not_found' && timeline !== null) return failedPage(site, timeline);
  const title = titleOf(words, problem);
  return page(site, {
    title,
    main: html`<div class="card"><h1><span class="status">${status}</span> ${title}</h1>
${reasonsOf(site, problem)}
<p class="toolbar">${
      paste !== null && html`<a class="button" href="${paste}">${words.timeline.back}</a> `
    }<a class="button" href="${site.base}/">${words.problem.back}</a>${
      timeline !== null && html` <a class="button" href="${timeline}">${words.problem.timeline}</a>`
    }${signIn !== null && html` <a class="button" data-back href="${signIn}">${words.problem.signIn}</a>`}</p>
${status >= 500 && html`<p class="hint reason">${words.problem.requestId}: <code dir="ltr">${requestId}</code></p>`}</div>`,
  });
}

/** What happened, and what is wrong with each field. @param isAnonymous the problem is that of a paste without an owner */
export function reasonsOf(site: Site, problem: ShownProblem, isAnonymous = site.viewer === null): Html {
  const { code, errors = [] } = problem;
  const { words } = site;
  const reasonOf = (path: string, message: string): Html => {
    const own =
      path === 'slug' ? slugMessage(words, code, message) : brokenRule(site, { path, message }, isAnonymous);
    return own === null ? html`<span lang="en" dir="ltr">${message}</span>` : html`<span>${own}</span>`;
  };
  return html`<div class="reason">${detailOf(words, problem)}</div>
${
  errors.length > 0 &&
  html`<ul>${errors.map((error) => {
    const path = error.path.replace(/^parameters\./, ''); // of a job, whose form has the fields of a paste
    return html`<li data-field="${error.path}"><strong>${nameOf(words, path)}</strong> ${reasonOf(path, error.message)}</li>`;
  })}</ul>`
}`;
}

type ProblemText = Pick<ShownProblem, 'code' | 'title' | 'detail'>;

function titleOf({ problem }: Words, { code, title }: ProblemText): string {
  return code === 'route_not_found' ? problem.unknownPage.title : (problem.of[code]?.title ?? title);
}

/** What happened, in the language of the page. Only the text of the API, which is English, has the figures. */
export function detailOf({ problem }: Words, { code, detail }: Omit<ProblemText, 'title'>): Html {
  if (code === 'route_not_found') return html`<p>${problem.unknownPage.detail}</p>`;
  if (detail.includes('`errors`')) return html`<p>${problem.correct}</p>`;
  const own = problem.of[code];
  if (own === undefined) return html`<p>${detail}</p>`;
  return html`<p>${own.detail}</p>\n<p class="hint"><span lang="en" dir="ltr">${detail}</span></p>`;
}

/** Why a slug was refused. @param message of the API, whose subject is the slug */
export function slugMessage({ form, problem }: Words, code: string, message: string): string {
  const own = problem.of[code];
  if (own === undefined) return form.slugRefused(message);
  return code === 'validation_failed' ? form.hints.slug : own.detail;
}

/** The upload of the paste failed: for programs, that is the same 404 as of a paste that never was. */
function failedPage(site: Site, timeline: string): string {
  const { problem: text } = site.words;
  return page(site, {
    title: text.failedTitle,
    main: html`<div class="card"><h1>${text.failedTitle}</h1>
<p>${text.failedDetail}</p>
<p>${text.failedHelp}</p>
<p class="toolbar"><a class="button primary" href="${site.base}/">${text.back}</a> <a class="button" href="${timeline}">${text.timeline}</a></p></div>`,
  });
}

/** The label of the field in the form; of a field that the form does not have, its name in the API. */
function nameOf({ form }: Words, path: string): string {
  const [, index] = /^files\.(\d+)\.name$/.exec(path) ?? [];
  if (index !== undefined) return `${form.fileName} ${Number(index) + 1}`;
  const labels: Readonly<Record<string, string>> = {
    ...form.labels,
    content: form.content,
    text: form.content,
  };
  return Object.hasOwn(labels, path) ? (labels[path] ?? path) : path; // somebody may name a field `__proto__`
}

/** The page of an address in which a program has written %23 for #. Its script goes to the right one. */
export function rightAddressPage(site: Site, path: string): string {
  const { paste: text, created } = site.words;
  return page(site, {
    title: text.rightAddress.title,
    scripts: ['right-address.js'],
    hasStylesInside: true,
    main: html`<div class="card"><h1>${text.rightAddress.title}</h1>
<p>${text.rightAddress.text}</p>
<p><a id="right" class="button primary" href="${site.base}/${path}">${created.open}</a></p></div>`,
  });
}
