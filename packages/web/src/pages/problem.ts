import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

/** What the page of an error shows of the API's problem details. */
export interface ShownProblem {
  readonly status: number;
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
  /** The path of the timeline that says what happened to the paste; null: the problem is about no paste that has one. */
  readonly timeline: string | null;
}

export function problemPage(
  site: Site,
  { status, title, detail, errors = [] }: ShownProblem,
  { requestId, signIn, timeline }: ProblemHelp,
): string {
  return page(site, {
    title,
    main: html`<h1><span class="status">${status}</span> ${title}</h1>
<p>${detail.includes('`errors`') ? words.problem.correct : detail}</p>
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li data-field="${path}"><strong>${nameOf(path)}</strong> <span>${message}</span></li>`)}</ul>`}
<p class="toolbar"><a class="button" href="${site.base}/">${words.problem.back}</a>${timeline !== null && html` <a class="button" href="${timeline}">${words.problem.timeline}</a>`}${signIn !== null && html` <a class="button" href="${signIn}">${words.problem.signIn}</a>`}</p>
${status >= 500 && html`<p class="hint">${words.problem.requestId}: <code>${requestId}</code></p>`}`,
  });
}

/** The label of the field in the form; of a field that the form does not have, its name in the API. */
function nameOf(path: string): string {
  const { form, burn } = words;
  const labels: Readonly<Record<string, string>> = {
    content: form.content,
    text: form.content,
    syntax: form.syntax,
    expires_in: form.expiry,
    visibility: form.visibility,
    burn: burn.option,
  };
  return labels[path] ?? path;
}
