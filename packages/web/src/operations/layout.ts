import { formatNumber } from '../html/formats.ts';
import { html, type Html, type HtmlValue } from '../html/html.ts';
import { brand, headParts, icon, preferencesSource, themeButton } from '../html/layout.ts';
import { en } from '../words/en.ts';
import { operationsWords as words } from './words.ts';

/** What the navigation leads to, in its order. */
const operationsPlaces = ['users', 'pastes', 'jobs', 'workers', 'erasures', 'reports', 'failed'] as const;

export type OperationsPlace = (typeof operationsPlaces)[number];

/** A number; `approximate`: an estimate, or a count that has stopped. */
export interface ShownCount {
  readonly count: number;
  readonly approximate: boolean;
}

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
  /** How much there is at each place; null: it is not known. */
  readonly counts: Readonly<Record<OperationsPlace, ShownCount>> | null;
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
  /** Where the page is in the navigation. Default: nowhere. */
  readonly place?: OperationsPlace | 'overview';
  /** Browser modules, by the name of their source. */
  readonly scripts?: readonly string[];
  /** Markup of the head. */
  readonly head?: Html;
  /**
   * Says where the visitor can go, and what the visitor may do. Not on a refusal, which also goes to visitors whose rights are not known.
   * Default: true.
   */
  readonly hasFooter?: boolean;
}

/** A whole document. */
export function operationsPage(
  site: OperationsSite,
  { title, main, place, scripts = [], head, hasFooter = true }: OperationsPageParts,
): string {
  const { base, asset, mayAct, signedInAs } = site;
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
<form class="search" action="${base}/find" role="search" aria-label="${words.search}"><input name="q" required aria-label="${words.searchLabel}"
placeholder="${words.searchHint}"><button>${words.search}</button></form>
${themeButton(en)}
</header>
${hasFooter && navigation(site, place)}<main id="main" tabindex="-1">
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

function navigation({ base, counts }: OperationsSite, place: OperationsPageParts['place']): Html {
  const link = (name: OperationsPlace) => {
    const count = counts?.[name];
    return html`<li><a href="${base}/${name}"${name === place && html` aria-current="page"`}>${words.places[name]}${
      count !== undefined && html` <span class="count">${countText(count)}</span>`
    }</a></li>\n`;
  };
  return html`<nav class="places" aria-label="${words.navigation}"><ul>
<li><a href="${base}/"${place === 'overview' && html` aria-current="page"`}>${words.overview}</a></li>
${operationsPlaces.map(link)}</ul></nav>\n`;
}

/** `~1,200,000` */
export function countText({ count, approximate }: ShownCount): string {
  return `${approximate ? '~' : ''}${formatNumber(count, en)}`;
}

/** `200+` for a count that has stopped there. */
export function leastText({ count, approximate }: ShownCount): string {
  return `${formatNumber(count, en)}${approximate ? '+' : ''}`;
}

/** A row of a table. */
export function row(cells: readonly HtmlValue[]): Html {
  const shown = cells.map((cell) => (typeof cell === 'number' ? formatNumber(cell, en) : cell));
  return html`<tr>${shown.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
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
