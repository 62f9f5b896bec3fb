import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import { detailOf, type ShownProblem } from './problem.ts';

/**
 * The page on which one signs in: at the identity provider, where there is one, or with a token.
 * @param problem why it is shown instead of another page, or why signing in failed; null: it was asked for
 * @param isRefused signing in failed
 * @param next the path to go to afterwards
 * @param paste the path of the paste that its reader sees without signing in; null: the page is about none
 */
export function signInPage(
  site: Site,
  {
    problem,
    isRefused = false,
    next,
    paste = null,
  }: {
    readonly problem: Pick<ShownProblem, 'code' | 'detail'> | null;
    readonly isRefused?: boolean;
    readonly next: string;
    readonly paste?: string | null;
  },
): string {
  const { signIn } = site.words;
  const text = problem && html`<div class="reason">${detailOf(site.words, problem)}</div>`;
  return page(site, {
    title: signIn.title,
    main: html`<div class="card"><h1>${signIn.title}</h1>
${isRefused ? html`<div class="notice bad" role="alert">${text}</div>` : text}
<p>${signIn.intro}</p>
${
  site.provider !== null &&
  html`<p><a class="button primary" data-back href="${site.base}/session/oidc?next=${encodeURIComponent(next)}">${signIn.byProvider(site.provider)}</a></p>
<p>${signIn.orToken}</p>`
}
<form class="narrow" method="post" action="${site.base}/session" data-back>
<input type="hidden" name="next" value="${next}">
<div class="field"><label for="token">${signIn.token}</label><input id="token" name="token" type="password"
autocomplete="current-password" spellcheck="false" required${site.provider === null && html` autofocus`}
aria-describedby="token-hint"><p id="token-hint" class="hint">${signIn.tokenHint}${
      site.provider === null && html` ${signIn.invitationHint}`
    }</p></div>
<p><button type="submit"${site.provider === null && html` class="primary"`}>${signIn.submit}</button></p>
</form>
${
  paste === null
    ? problem !== null &&
      html`<form method="post"
action="${site.base}/session/end?next=${encodeURIComponent(next.startsWith(`${site.base}/my/`) ? `${site.base}/` : next)}"><button
type="submit">${signIn.without}</button></form>`
    : html`<p><a class="button" href="${paste}">${site.words.timeline.back}</a></p>`
}</div>`,
  });
}

/**
 * The page that a browser shows for a moment when it comes back from the identity provider. It goes on by
 * itself, without JavaScript.
 * @param next the path to go to
 */
export function signedInPage(site: Site, { next }: { readonly next: string }): string {
  const { signIn } = site.words;
  return page(
    { ...site, again: null },
    {
      title: signIn.done,
      head: html`<meta http-equiv="refresh" content="0; url=${next}">\n`,
      main: html`<div class="card"><h1>${signIn.done}</h1>
<p><a class="button primary" href="${next}">${signIn.goOn}</a></p></div>`,
    },
  );
}
