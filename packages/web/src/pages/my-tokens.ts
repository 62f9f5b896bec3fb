import { randomUUID } from 'node:crypto';
import { MAX_TOKEN_NAME_CHARACTERS, ownTokenScopes, type TokenScope } from '@pasteflow/domain';
import { choice } from '../html/filter-form.ts';
import { formatTime, formatUnit } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { shownOnce } from './created.ts';

/** A token in its user's list. The times are in ISO 8601. */
interface ListedToken {
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  readonly created: string;
  readonly lastUsed: string | null;
  readonly expires: string | null;
}

interface MyTokens {
  readonly tokens: readonly ListedToken[];
  /** What the form proposes as the name. */
  readonly name: string;
  /** The token that was just made, with its secret; null: none was. */
  readonly made: { readonly name: string; readonly token: string } | null;
  readonly canMake: boolean;
  readonly canRevoke: boolean;
  /** How long a token may last. */
  readonly maxSeconds: number;
  /** How long it lasts unless its user chooses. */
  readonly usualSeconds: number;
}

/** The user's tokens, newest first, each with a button that revokes it, and the form that makes one. */
export function myTokensPage(site: Site, list: MyTokens): string {
  const { myTokens: text } = site.words;
  const { tokens, made } = list;
  return page(site, {
    title: text.title,
    scripts: ['my-tokens.js'],
    place: '/my/tokens',
    main: html`<div class="card"><h1>${text.title}</h1>
${made !== null && shownOnce(site.words, { title: text.made(made.name), label: text.secret, secret: made.token, hint: text.secretHint })}
<p>${text.intro}</p>
${!list.canRevoke && html`<p class="notice">${text.notFull}</p>`}
${list.canRevoke && !list.canMake && html`<p class="notice">${text.cannotMake}</p>`}
${
  tokens.length === 0
    ? html`<p>${text.none}</p>`
    : html`<form method="post"
action="${site.base}/my/tokens/revoke">${formUser(site)}\n<ul
class="rows">\n${tokens.map((each) => row(site.words, each, list.canRevoke))}</ul>\n</form>`
}
${list.canMake && form(site, list)}</div>`,
  });
}

export function row(
  words: Words,
  { id, name, scope, created, lastUsed, expires }: ListedToken,
  canRevoke: boolean,
): Html {
  const { myTokens: text } = words;
  return html`<li><div><p><strong><bdi>${name}</bdi></strong> <span class="badge">${text.scopes[scope]}</span></p>
<p class="line"><span>${text.created} ${formatTime(created, words)}</span><span>${
    lastUsed === null ? text.neverUsed : html`${text.lastUsed} ${formatTime(lastUsed, words)}`
  }</span><span>${expires === null ? text.neverExpires : html`${text.expires} ${formatTime(expires, words)}`}</span></p>
</div>
${
  canRevoke &&
  html`<details class="menu"><summary aria-label="${text.revokeOne(name)}">${text.revoke}</summary>
<div><button class="danger" name="id" value="${id}" type="submit">${text.revokeOne(name)}</button></div>
</details>`
}</li>\n`;
}

function form(site: Site, { name, maxSeconds, usualSeconds }: MyTokens): Html {
  const { words } = site;
  const { myTokens: text } = words;
  const usual = String(Math.min(usualSeconds, maxSeconds));
  const shorter = Object.entries(text.expiries).filter(([seconds]) => Number(seconds) < maxSeconds);
  const longest =
    (text.expiries as Readonly<Record<string, string>>)[maxSeconds] ??
    formatUnit(maxSeconds / 86_400, 'day', words, 'long');
  const all = [...shorter, [String(maxSeconds), longest] as const];
  return html`<h2 id="make">${text.make}</h2>
<form class="narrow" method="post" action="${site.base}/my/tokens" aria-labelledby="make">${formUser(site)}
<input type="hidden" name="form_key" value="${randomUUID()}" autocomplete="off">
<div class="field"><label for="name">${text.name}</label><input id="name" name="name" value="${name}" dir="auto"
maxlength="${MAX_TOKEN_NAME_CHARACTERS}" required autocomplete="off" aria-describedby="name-hint"><p id="name-hint"
class="hint">${text.nameHint}</p></div>
${choice(
  { id: 'scope', label: text.scope },
  ownTokenScopes.map((scope) => [scope, text.scopes[scope]] as const),
  'write',
)}
${choice({ id: 'expires_in', label: text.expiry }, all, usual)}
<p><button class="primary" type="submit">${text.submit}</button></p>
</form>`;
}
