import { html, type Html } from '../html/html.ts';
import { formUser, page, type Site } from '../html/layout.ts';
import { formatTime, timeText } from '../html/formats.ts';
import { personText, type Person } from '../html/person.ts';

/** Who the user is, what belongs to the user, and the end of it. An export comes first. */
export function myAccountPage(
  site: Site,
  {
    person,
    exportFormats,
    canErase = true,
    isRefused = false,
  }: {
    readonly person: Person;
    readonly exportFormats: readonly string[];
    /** The caller's token may erase the user. Default: true. */
    readonly canErase?: boolean;
    /** Another name was typed to confirm the erasure. Default: false. */
    readonly isRefused?: boolean;
  },
): string {
  const { myAccount: text, myJobs, signIn } = site.words;
  const { base } = site;
  return page(site, {
    title: text.title,
    place: '/my/account',
    main: html`<div class="card"><h1>${text.title}</h1>
<p>${signIn.signedInAs} <strong>${personText(person, site.words)}</strong></p>
<h2>${text.exportTitle}</h2>
<form class="narrow" method="post" action="${base}/my/jobs/export">${formUser(site)}
<p>${text.exportHint}</p>
<div class="field"><label for="format">${myJobs.format}</label><select id="format" name="format">${exportFormats.map(
      (format) => html`<option>${format}</option>`,
    )}</select></div>
<p><button class="primary" type="submit">${myJobs.startExport}</button></p>
</form>
<h2>${text.eraseTitle}</h2>
${canErase ? eraseForm(site, person.name, isRefused) : html`<p class="notice">${text.notFull}</p>`}</div>`,
  });
}

function eraseForm(site: Site, name: string, isRefused: boolean): Html {
  const { myAccount: text } = site.words;
  return html`<form class="narrow" method="post" action="${site.base}/my/account/erase">${formUser(site)}
<p>${text.eraseHint}</p>
<div class="field"><label for="name">${text.nameField}</label><input id="name" name="name" required autocomplete="off"
spellcheck="false" aria-describedby="name-error name-hint"${
    isRefused && html` aria-invalid="true" autofocus`
  }><p id="name-error" class="field-error" role="alert">${isRefused && text.nameError}</p>
<p id="name-hint" class="hint">${text.nameHint} <bdi>${name}</bdi></p></div>
<p><button class="danger" type="submit">${text.erase}</button></p>
</form>`;
}

/** After the erasure has begun. Nobody is signed in. */
export function accountErasedPage(site: Site): string {
  const { myAccount: text } = site.words;
  return page(site, {
    title: text.erased,
    main: html`<div class="card"><h1>${text.erased}</h1>
<p>${text.erasedHint}</p>
<p><a class="button" href="${site.base}/">${text.goOn}</a></p></div>`,
  });
}

/** A browser in which its user is signed in. The times are in ISO 8601. */
interface OwnSession {
  readonly id: string;
  /** The name of the token that signed the browser in; null: none did. */
  readonly tokenName: string | null;
  /** An invitation signed the browser in. Without one and without a token the identity provider did. */
  readonly byInvitation: boolean;
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
    main: html`<div class="card"><h1>${text.title}</h1>
<p>${text.intro}</p>
${otherDevice(site)}<form method="post" action="${site.base}/my/sessions/end">${formUser(site)}
<ul class="rows">
${sessions.map((each) => row(site, each))}</ul>
${
  sessions.some(({ isThis }) => !isThis) &&
  html`<p class="toolbar"><button class="danger" name="session" value="others"
type="submit">${text.endOthers}</button></p>`
}
</form></div>`,
  });
}

/**
 * How to sign in elsewhere, where no identity provider does, and the house lets people make tokens. A second invitation would
 * end the first device's session.
 */
export function otherDevice({ base, house, provider, words }: Site): Html | false {
  return (
    provider === null &&
    house.maxTokenSeconds > 0 &&
    html`<p>${words.mySessions.otherDevice} <a href="${base}/my/tokens">${words.myTokens.title}</a></p>\n`
  );
}

function row(site: Site, session: OwnSession): Html {
  const { words } = site;
  const { id, isThis, begun, lastUsed, ends } = session;
  const { mySessions: text } = words;
  const button = html`<button name="session" value="${id}" type="submit" aria-label="${text.endOne(timeText(begun, words))}">${text.endButton}</button>`;
  return html`<li><div><p><strong>${text.begun} ${formatTime(begun, words)}</strong>${
    isThis && html` <span class="badge processed">${text.thisBrowser}</span>`
  }</p>
<p class="line"><span>${wayOf(site, session)}</span><span>${text.lastUsed} ${formatTime(lastUsed, words)}</span><span>${text.ends} ${formatTime(ends, words)}</span></p></div>
${!isThis && button}</li>\n`;
}

/** How the session began. */
function wayOf({ provider, words }: Site, { tokenName, byInvitation }: OwnSession): Html | string {
  const { mySessions: text } = words;
  if (tokenName !== null) return html`${text.byToken} <bdi>${tokenName}</bdi>`;
  return byInvitation ? text.byInvitation : text.byProvider(provider);
}
