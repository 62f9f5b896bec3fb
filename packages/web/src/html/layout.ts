import { createHash } from 'node:crypto';
import type { House, Logo } from '@pasteflow/domain';
import type { Words } from '../words/translation.ts';
import { languageNames } from '../words/words.ts';
import { Html, html } from './html.ts';
import type { Person } from './person.ts';

/**
 * Runs before anything is painted, so that no page flashes in other colours than those that its reader has
 * chosen. The policies name it by its hash.
 */
export const PREFERENCES_SCRIPT =
  "for(const k of['theme','wrap','tabs'])try{const v=localStorage.getItem('pasteflow-'+k);if(v)document.documentElement.dataset[k]=v}catch{}";

/** The one inline script of the pages, as a source of a policy. */
export const preferencesSource = hashSource(PREFERENCES_SCRIPT);

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A page that has an image inside of it, as a `data:` URL. */
export function policyWithImage(policy: string): string {
  return policy.replace("img-src 'self'", "img-src 'self' data:");
}

/**
 * The Content-Security-Policy of the pages: everything comes from this origin, and nothing is inline but one
 * style sheet and one script, which hashes name. A paste in a page is text, and even markup that slipped through could not
 * run.
 * @param styles the text of that style sheet; null: none
 */
export function pagePolicyOf(styles: string | null): string {
  const hash = styles === null ? '' : ` ${hashSource(styles)}`;
  return [
    "default-src 'none'",
    `script-src 'self' ${preferencesSource}`,
    "worker-src 'self'",
    `style-src 'self'${hash}`,
    "connect-src 'self'",
    "img-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** A user who is signed in. */
interface Viewer {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly person: Person;
  /** With a token that may only read. */
  readonly onlyReads: boolean;
}

/** Its name and its logo stand at the head of the pages, and its links at their foot. Forms know its rules. */
interface ShownHouse extends Omit<House, 'logo'> {
  /** null: the icon of the software. */
  readonly logo: (Pick<Logo, 'type'> & { readonly path: string }) | null;
}

/** What every page needs to know of the service. */
export interface Site {
  /** The path of PUBLIC_URL without a slash at the end; empty when the service has a host of its own. */
  readonly base: string;
  /** The path of an asset below `base`, by the name of its source, for instance `paste.js`. */
  readonly asset: (name: string) => string;
  /** The text of page.css, for the pages that have it inside. */
  readonly styles: string;
  /** Who runs the service, and what new pastes may be. */
  readonly house: ShownHouse;
  /** The host of the identity provider by which people sign in; null: there is none. */
  readonly provider: string | null;
  /** Who looks at the page; null: nobody who is signed in. */
  readonly viewer: Viewer | null;
  /** The operator has set up webhooks. */
  readonly hasWebhooks: boolean;
  readonly words: Words;
  /** The path that shows the same page in another language; null: the page can't be shown again. */
  readonly again: string | null;
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
  readonly head?: Html | undefined;
  /** The page of another library: it has the style sheet and the main element itself. Default: false. */
  readonly isOfLibrary?: boolean;
  /** Where the page is in the navigation; default: nowhere. */
  readonly place?: Place;
}

/** The pages of the navigation, by their paths. */
type Place =
  | '/'
  | '/docs'
  | '/my/pastes'
  | '/my/requests'
  | '/my/jobs'
  | '/my/webhooks'
  | '/my/tokens'
  | '/my/sessions'
  | '/my/account';

/** A whole document. */
export function page(site: Site, { main, ...parts }: PageParts): string {
  const { before, after } = frame(site, parts);
  return before + main.markup + after;
}

/** A document without its main part, for a page that is written as its content arrives. */
export function frame(
  site: Site,
  { title, scripts = [], hasStylesInside = false, isOfLibrary = false, head, place }: Omit<PageParts, 'main'>,
): { readonly before: string; readonly after: string } {
  const { base, asset, house, words } = site;
  const styles = isOfLibrary
    ? null
    : hasStylesInside
      ? html`<style>${new Html(site.styles)}</style>`
      : html`<link rel="stylesheet" href="${asset('all.css')}">`;
  const mainTag = new Html(isOfLibrary ? 'div' : 'main');
  const link = (path: Place, name: string | Html, className = ''): Html =>
    html`<a${className !== '' && html` class="${className}"`} href="${base}${path}"${
      path === place && html` aria-current="page"`
    }${path === '/' && html` aria-keyshortcuts="n"`}>${name}</a> `;
  const before = html`<!doctype html>
<html lang="${words.locale}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${headParts}<title>${withoutDirections(title)} – ${withoutDirections(house.name)}</title>
${icons(site)}
<link rel="manifest" href="${asset('app.webmanifest')}">
${styles}
${['site.js', ...scripts].map((name) => html`<script type="module" src="${asset(name)}"></script>\n`)}${head}</head>
<body>
<a class="skip" href="#main">${words.skipToContent}</a>
<header class="site">
${brand(`${base}/`, house.name, house.logo === null ? icon(asset) : html`<img src="${house.logo.path}" height="24" alt="">`)}
<nav aria-label="${words.navigation}">${link(
    '/',
    html`${words.newPasteShort}<span class="wide">${words.newPasteRest}</span>`,
  )}${site.viewer !== null && html`${link('/my/pastes', words.myPastes.title)}${link('/my/jobs', words.myJobs.title)}`}${link('/docs', words.documentation, 'at-foot')}</nav>
${account(site, place)}
${themeButton(words)}
</header>
<${mainTag} id="main" tabindex="-1">
`;
  const after = html`
</${mainTag}>
<footer class="site">
${place !== '/' && html`<p>${words.intro(house.name)}</p>\n`}<p class="foot"><a href="${base}/docs">${words.documentation}</a></p>
<button type="button" id="keys" aria-keyshortcuts="?" data-title="${words.keys.title}"
data-option="${words.keys.option}" data-close="${words.keys.close}" hidden>${words.keys.title}</button>
${houseLinks(site)}${languageSwitch(site)}</footer>
</body>
</html>
`;
  return { before: before.markup, after: after.markup };
}

/** Of the head of every page: the colours that the reader has chosen are there before anything is painted. */
export const headParts = html`<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#1a1d22" media="(prefers-color-scheme: dark)">
<script>${new Html(PREFERENCES_SCRIPT)}</script>
`;

/** The logo and the name of the service. A narrow window has no room for the name, which names the link. */
export function brand(path: string, name: string, image: Html): Html {
  return html`<a class="brand" href="${path}" aria-label="${name}">${image}<span>${name}</span></a>`;
}

/** That of the software. A logo can be wider than it is high. */
export function icon(asset: Site['asset']): Html {
  return html`<img src="${asset('icon.svg')}" width="24" height="24" alt="">`;
}

/** iOS shows an SVG in no list of apps, but a picture of the page. */
function icons(site: Site): Html {
  const { asset, house } = site;
  const { path, type } = house.logo ?? { path: asset('icon.svg'), type: 'image/svg+xml' };
  const touch = house.logo === null ? asset('touch-icon.png') : type === 'image/png' ? path : null;
  return html`<link rel="icon" href="${path}" type="${type}">${
    touch !== null && html`\n<link rel="apple-touch-icon" href="${touch}">`
  }`;
}

/** Whom to ask, and by which rules. */
function houseLinks({ house, words }: Site): readonly Html[] {
  const { abuse, ...others } = house.links;
  const links = [
    ...(['imprint', 'privacy', 'terms'] as const).map(
      (name) => [others[name], words.houseLinks[name]] as const,
    ),
    [abuse && contactLink(abuse), words.reportAbuse] as const,
  ];
  return links.flatMap(([url, name]) => (url === null ? [] : [html`<p><a href="${url}">${name}</a></p>\n`]));
}

/** Hidden without JavaScript: the colours then follow the system. */
export function themeButton({ themes }: Words): Html {
  return html`<button type="button" id="theme" data-names="${JSON.stringify(themes)}" hidden></button>`;
}

/** Who is signed in, with a menu of what belongs to that; or the link to sign in. */
function account({ base, viewer, hasWebhooks, words }: Site, place: Place | undefined): Html {
  if (viewer === null) return html`<p class="account"><a href="${base}/session">${words.signIn.link}</a></p>`;
  return html`<details class="account menu">
<summary><span><span class="visually-hidden">${words.signIn.signedInAs} </span><bdi>${viewer.person.name}</bdi><span class="initial"
aria-hidden="true">${String.fromCodePoint(viewer.person.name.codePointAt(0) ?? 0x3f)}</span></span></summary><div>
<a class="button" href="${base}/my/account"${place === '/my/account' && html` aria-current="page"`}>${words.myAccount.title}</a>
<a class="button" href="${base}/my/requests"${place === '/my/requests' && html` aria-current="page"`}>${words.requests.title}</a>
${
  hasWebhooks &&
  html`<a class="button" href="${base}/my/webhooks"${place === '/my/webhooks' && html` aria-current="page"`}>${words.webhooks.title}</a>\n`
}<a class="button" href="${base}/my/tokens"${place === '/my/tokens' && html` aria-current="page"`}>${words.myTokens.title}</a>
<a class="button" href="${base}/my/sessions"${place === '/my/sessions' && html` aria-current="page"`}>${words.mySessions.title}</a>
<form method="post" action="${base}/session/end"><button type="submit">${words.signIn.signOut}</button></form>
</div></details>`;
}

/** A button for each language. The browser module reloads the page instead of going to it again. */
function languageSwitch({ base, again, words }: Site): Html | false {
  if (again === null) return false;
  return html`<form id="languages" class="toolbar" method="post" action="${base}/language"
aria-label="${words.choice}"><input type="hidden" name="next" value="${again}">${languageNames.map(
    ({ locale, name }) =>
      html`<button name="language" value="${locale}" lang="${locale}"${
        locale === words.locale && html` aria-current="true"`
      }>${name}</button>`,
  )}</form>\n`;
}

/** Before somebody types what the service will refuse. */
export function onlyReads({ viewer, words }: Pick<Site, 'viewer' | 'words'>): Html | false {
  return viewer?.onlyReads === true && html`<p class="notice attention">${words.signIn.onlyReads}</p>\n`;
}

/**
 * Whom a form is for. The service refuses it from anybody else, because the session of the browser may have ended
 * or become another user's since the page was shown.
 */
export function formUser({ viewer }: Pick<Site, 'viewer'>): Html {
  // Firefox fills a hidden field with what it had before the reload.
  return html`<input type="hidden" name="form_user" value="${viewer?.id ?? ''}" autocomplete="off">`;
}

export function contactLink(contact: string): string {
  return contact.includes('@') && !contact.includes(':') ? `mailto:${contact}` : contact;
}

/** A title of a browser's tab can't be isolated by an element, so that its direction marks go. */
function withoutDirections(text: string): string {
  return text.replaceAll(DIRECTION_MARKS, '');
}

/** The embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX 9, table 4). */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
