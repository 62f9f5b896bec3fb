import { html, type Html } from '../html/html.ts';
import { brand, headParts, icon, preferencesSource, themeButton } from '../html/layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/** What every page for operators needs to know. */
export interface OperationsSite {
  /** The path before all paths of the page, without a slash at the end; empty: none. */
  readonly base: string;
  /** The path of an asset, by the name of its source. */
  readonly asset: (name: string) => string;
  /** The operator may do things. */
  readonly mayAct: boolean;
  /** The name under which the identity provider has signed the operator in; null: it has not. */
  readonly signedInAs: string | null;
}

/** Everything comes from this origin, nothing is inline but the script of the head, and nobody may frame the page. */
export const operationsPolicy = [
  "default-src 'none'",
  `script-src 'self' ${preferencesSource}`,
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface OperationsPageParts {
  readonly title: string;
  readonly main: Html;
  /** Browser modules, by the name of their source. */
  readonly scripts?: readonly string[];
  /** Markup of the head. */
  readonly head?: Html;
  /**
   * Says what the visitor may do. Not on a refusal, which also goes to visitors whose rights are not known.
   * Default: true.
   */
  readonly hasFooter?: boolean;
}

/** A whole document. */
export function operationsPage(
  { base, asset, mayAct, signedInAs }: OperationsSite,
  { title, main, scripts = [], head, hasFooter = true }: OperationsPageParts,
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${headParts}<title>${title} – ${words.product}</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${asset('all.css')}">
<link rel="stylesheet" href="${asset('operations.css')}">
${['site.js', ...scripts].map((name) => html`<script type="module" src="${asset(name)}"></script>\n`)}${head}</head>
<body>
<a class="skip" href="#main">${words.skipToContent}</a>
<header class="site">
${brand(`${base}/`, words.product, icon(asset))}
<form class="search" action="${base}/find" role="search"><input name="q" required aria-label="${words.searchLabel}"
placeholder="${words.searchHint}"><button>${words.search}</button></form>
${themeButton(en)}
</header>
<main id="main" tabindex="-1">
${main}
</main>
${
  (hasFooter || signedInAs !== null) &&
  html`<footer class="site">${hasFooter && html`<p>${mayAct ? words.footer : words.readOnly}</p>`}${
    signedInAs !== null &&
    html`<form method="post"
action="${base}/session/end"><p>${words.signedInAs} <bdi>${signedInAs}</bdi> <button type="submit">${words.signOut}</button></p>
</form>`
  }</footer>\n`
}</body>
</html>
`.markup;
}

/** A link to the confirming step of an action; nothing for those who may not act. */
export function actionLink(
  { base, mayAct }: OperationsSite,
  {
    action,
    subject,
    label,
  }: { readonly action: string; readonly subject: string | null; readonly label: string },
): Html | null {
  if (!mayAct) return null;
  const query = subject === null ? '' : `?subject=${encodeURIComponent(subject)}`;
  return html`<a class="button" href="${base}/confirm/${action}${query}">${label}</a>`;
}

export interface RefusalLink {
  readonly href: string;
  readonly label: string;
}

/**
 * Why a request was not served, and what to do.
 * @param links what to follow; empty: the overview
 */
export function refusalPage(
  site: OperationsSite,
  {
    title,
    detail,
    links,
  }: { readonly title: string; readonly detail: string; readonly links: readonly RefusalLink[] },
): string {
  const shown = links.length > 0 ? links : [{ href: `${site.base}/`, label: words.back }];
  return operationsPage(site, {
    title,
    hasFooter: false,
    main: html`<h1>${title}</h1>
<p>${detail}</p>
<p class="toolbar">${shown.map(({ href, label }) => html`<a class="button" href="${href}">${label}</a> `)}</p>`,
  });
}
