import { formatTime, timeText } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, page, type Site } from '../html/layout.ts';

/** A browser in which its user is signed in. The times are in ISO 8601. */
interface OwnSession {
  readonly id: string;
  /** The name of the token that signed the browser in; null: the identity provider did. */
  readonly tokenName: string | null;
  /** It is the browser that shows the page. */
  readonly isThis: boolean;
  readonly begun: string;
  readonly lastUsed: string;
  readonly ends: string;
}

/**
 * The user's sessions, newest first, each with a button that ends it. That of this browser ends by signing
 * out.
 */
export function mySessionsPage(site: Site, sessions: readonly OwnSession[]): string {
  const { mySessions: text } = site.words;
  return page(site, {
    title: text.title,
    scripts: ['timeline.js'], // which shows the times relative to now
    place: '/my/sessions',
    main: html`<h1>${text.title}</h1>
<p>${text.intro}</p>
<form method="post" action="${site.base}/my/sessions/end">${formUser(site)}
<ul class="rows">
${sessions.map((each) => row(site, each))}</ul>
${sessions.some(({ isThis }) => !isThis) && html`<p class="toolbar"><button class="danger" name="session" value="others" type="submit">${text.endOthers}</button></p>`}
</form>`,
  });
}

function row({ provider, words }: Site, { id, tokenName, isThis, begun, lastUsed, ends }: OwnSession): Html {
  const { mySessions: text } = words;
  const way = tokenName === null ? text.byProvider(provider) : html`${text.byToken} <bdi>${tokenName}</bdi>`;
  const button = html`<button name="session" value="${id}" type="submit" aria-label="${text.endOne(timeText(begun, words))}">${text.endButton}</button>`;
  return html`<li><div><p><strong>${text.begun} ${formatTime(begun, words)}</strong>${isThis && html` <span class="badge processed">${text.thisBrowser}</span>`}</p>
<p class="line"><span>${way}</span><span>${text.lastUsed} ${formatTime(lastUsed, words)}</span><span>${text.ends} ${formatTime(ends, words)}</span></p></div>
${!isThis && button}</li>\n`;
}
