import { html } from '../html/html.ts';
import { operationsPage, type OperationsSite } from './layout.ts';
import { operationsWords as words } from './words.ts';

/** Why a request was not served, and what to do. */
export function refusalPage(
  site: OperationsSite,
  { title, detail }: { readonly title: string; readonly detail: string },
): string {
  return operationsPage(site, {
    title,
    hasFooter: false,
    main: html`<h1>${title}</h1>
<p>${detail}</p>
<p><a class="button" href="${site.base}/">${words.back}</a></p>`,
  });
}
