import { words } from '../words.ts';
import { Html, html } from './html.ts';

/** What every page needs to know of the service. */
export interface Site {
  /** The path of PUBLIC_URL without a slash at the end; empty when the service has a host of its own. */
  readonly base: string;
  /** The path of an asset below `base`, by the name of its source, for instance `paste.js`. */
  readonly asset: (name: string) => string;
  /** The text of page.css, for the pages that have it inside. */
  readonly styles: string;
  /** A link or an address for reports; null: not shown. */
  readonly abuseContact: string | null;
  /** The host of the identity provider by which people sign in; null: there is none. */
  readonly provider: string | null;
  /** The user who is signed in; null: nobody. */
  readonly viewer: { readonly name: string } | null;
}

export interface PageParts {
  readonly title: string;
  readonly main: Html;
  /** Browser modules, by the name of their source. */
  readonly scripts?: readonly string[];
  /**
   * The style sheet is in the document, so that the browser paints the page without another request. For
   * pages to which links lead: their readers seldom have the style sheet in their cache. Default: false.
   */
  readonly hasStylesInside?: boolean;
  /** Markup of the head, for instance a refresh without JavaScript. */
  readonly head?: Html;
}

/** A whole document. */
export function page(site: Site, { main, ...parts }: PageParts): string {
  const { before, after } = frame(site, parts);
  return before + main.markup + after;
}

/** A document without its main part, for a page that is written as its content arrives. */
export function frame(
  site: Site,
  { title, scripts = [], hasStylesInside = false, head }: Omit<PageParts, 'main'>,
): { readonly before: string; readonly after: string } {
  const { base, asset } = site;
  const styles = hasStylesInside
    ? html`<style>${new Html(site.styles)}</style>`
    : html`<link rel="stylesheet" href="${asset('page.css')}">`;
  const before = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${withoutDirections(title)} – ${words.product}</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
${styles}
${scripts.map((name) => html`<script type="module" src="${asset(name)}"></script>\n`)}${head}</head>
<body>
<a class="skip" href="#main">${words.skipToContent}</a>
<header class="site">
<a class="brand" href="${base}/">${words.product}</a>
<nav><a href="${base}/">${words.newPaste}</a> ${site.viewer !== null && html`<a href="${base}/my/pastes">${words.myPastes.title}</a> <a href="${base}/my/jobs">${words.myJobs.title}</a> <a href="${base}/my/sessions">${words.mySessions.title}</a> `}<a href="${base}/docs">${words.documentation}</a></nav>
${account(site)}
</header>
<main id="main" tabindex="-1">
`;
  const after = html`
</main>
<footer class="site">
<p>${words.footer}</p>
${site.abuseContact !== null && html`<p><a href="${contactLink(site.abuseContact)}">${words.reportAbuse}</a></p>`}
</footer>
</body>
</html>
`;
  return { before: before.markup, after: after.markup };
}

/** Who is signed in, with a button to sign out; or the link to sign in. */
function account({ base, viewer }: Site): Html {
  if (viewer === null) return html`<p class="account"><a href="${base}/session">${words.signIn.link}</a></p>`;
  return html`<form class="account" method="post" action="${base}/session/end"><span>${words.signIn.signedInAs} <bdi>${viewer.name}</bdi></span> <button type="submit">${words.signIn.signOut}</button></form>`;
}

function contactLink(contact: string): string {
  return contact.includes('@') && !contact.includes(':') ? `mailto:${contact}` : contact;
}

/** A title of a browser's tab can't be isolated by an element, so that its direction marks go. */
function withoutDirections(text: string): string {
  return text.replaceAll(DIRECTION_MARKS, '');
}

/** The embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9, table 4). */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
