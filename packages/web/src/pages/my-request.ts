import { formatSize, formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';
import { copyButton } from './created.ts';
import { isOpen, requestFacts, type OwnRequest } from './my-requests.ts';
import { quotation } from './request.ts';

/** What somebody has sent. The times are in ISO 8601. */
interface ShownDeposit {
  readonly short_code: string;
  readonly wrapped_key: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly size_bytes: number;
  /** It can be read. */
  readonly is_there: boolean;
}

/**
 * One request of the user. The script reads the private key in the address, with which it finds the key of each deposit
 * and the link for others; without it, the page says what can be done.
 * @param url the page of those who are asked, without the public key
 */
export function myRequestPage(
  site: Site,
  {
    request,
    url,
    deposits,
  }: {
    readonly request: OwnRequest;
    readonly url: string;
    readonly deposits: readonly ShownDeposit[];
  },
): string {
  const { base, words } = site;
  const { requests: text } = words;
  const takesMore = isOpen(request);
  return page(site, {
    title: text.one,
    scripts: ['my-request.js'],
    main: html`<div class="card request" id="request" data-request="${request.id}" data-wrong="${text.wrongKey}"
data-broken="${text.brokenOwn}" data-outdated="${text.inBrowser.outdated}" data-unloaded="${text.inBrowser.unloaded}" data-insecure="${words.encryption.insecure}"><h1>${text.one}</h1>
${requestFacts(words, request)}
${quotation(words, request.message)}<p id="needs-script" class="notice bad">${text.needsScript}</p>
<div id="refusal" role="alert"></div>
${lost(site)}${links(site, takesMore ? url : null)}<h2>${text.arrivedTitle}</h2>
<div id="arrived" aria-live="polite"${takesMore && html` data-open`}>
${
  deposits.length === 0
    ? html`<p>${takesMore ? text.nothing : text.nothingCame}</p>`
    : html`<ul class="rows">\n${deposits.map((each, index) => row(site, each, index + 1))}</ul>
<p class="hint">${text.deleteHint} <a href="${base}/my/pastes">${words.myPastes.title}</a></p>`
}</div>
${onlyReads(site) === false && takesMore && cancel(site, request.id)}
<p><a class="button" href="${base}/my/requests">${words.back(text.title)}</a></p></div>`,
  });
}

/** Without the key. */
function lost({ words }: Site): Html {
  const { requests: text } = words;
  return html`<form id="lost" hidden><h2>${text.lostTitle}</h2>
<p>${text.lost}</p>
<div class="field"><label for="own-again">${text.ownLink}</label><div class="copyable"><input id="own-again" dir="ltr" required
autocomplete="off" spellcheck="false" aria-describedby="own-again-error"><button type="submit">${text.lostUse}</button></div><p
id="own-again-error" class="field-error" role="alert"></p></div>
<p class="hint">${text.lostForEver}</p></form>
`;
}

/** With the key: the own link, and the one for others. @param url null: nothing can be sent any more */
function links({ words }: Site, url: string | null): Html {
  const { requests: text, created } = words;
  return html`<div id="links" hidden>
<div class="field"><h2><label for="own">${text.ownLink}</label></h2><p id="own-hint">${text.save}</p><div class="copyable"><input id="own"
dir="ltr" readonly autocomplete="off" aria-describedby="own-hint">${copyButton(words, 'own', created.copyLink)}</div>
<p class="toolbar"><a id="keep" class="button" download>${text.download}</a> <button id="saved" type="button" class="primary"
hidden>${text.saved}</button></p></div>
${
  url !== null &&
  html`<div id="pass" class="field"><h2><label for="ask">${text.askLink}</label></h2><p id="ask-hint">${text.pass}</p><div
class="copyable"><input id="ask" data-url="${url}" dir="ltr" readonly autocomplete="off"
aria-describedby="ask-hint">${copyButton(words, 'ask', created.copyLink, 'primary')}</div></div>
<p id="pass-later" class="hint" hidden>${text.passLater}</p>`
}</div>
`;
}

function row({ base, words }: Site, deposit: ShownDeposit, number: number): Html {
  const { requests: text, paste } = words;
  const { short_code: code, created_at: created, expires_at: expires, is_there: isThere } = deposit;
  return html`<li id="deposit-${number}"><div><p><strong>${text.number(number)}</strong>${!isThere && html` <span class="badge">${text.gone}</span>`}</p>
<p class="line"><span><bdi dir="ltr">${code}</bdi></span><span>${formatSize(deposit.size_bytes, words)}</span><span>${formatTime(created, words)}</span>${
    isThere && expires !== null && html`<span>${paste.expiresLine} ${formatTime(expires, words)}</span>`
  }</p>
<p class="field-error" role="alert"></p></div>
${
  isThere &&
  html`<a class="button" href="${base}/${code}" data-wrapped="${deposit.wrapped_key}" aria-label="${text.openOne(number)}"
hidden>${text.open}</a>`
}</li>\n`;
}

function cancel(site: Site, id: string): Html {
  const { requests: text } = site.words;
  return html`<details class="explanation"><summary>${text.cancel}</summary>
<form id="cancel" method="post" action="${site.base}/my/requests/${id}/cancel">${formUser(site)}
<p class="hint">${text.cancelHint}</p>
<p><button class="danger" type="submit">${text.cancelButton}</button></p>
</form></details>`;
}
