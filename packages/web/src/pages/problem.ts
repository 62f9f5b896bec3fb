import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { words } from '../words.ts';

/** What the page of an error shows of the API's problem details. */
export interface ShownProblem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

/** @param signIn the path that leads to the page after signing in; null: that would change nothing */
export function problemPage(
  site: Site,
  { status, title, detail, errors = [] }: ShownProblem,
  { requestId, signIn }: { readonly requestId: string; readonly signIn: string | null },
): string {
  return page(site, {
    title,
    main: html`<h1><span class="status">${status}</span> ${title}</h1>
<p>${detail}</p>
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li><strong>${path}</strong> ${message}</li>`)}</ul>`}
<p class="toolbar"><a class="button" href="${site.base}/">${words.problem.back}</a>${signIn !== null && html` <a class="button" href="${signIn}">${words.problem.signIn}</a>`}</p>
${status >= 500 && html`<p class="hint">${words.problem.requestId}: <code>${requestId}</code></p>`}`,
  });
}
