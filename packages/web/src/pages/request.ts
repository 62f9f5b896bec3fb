import { MAX_FILES } from '@pasteflow/domain';
import { formatSize, formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { contactLink, onlyReads, page, type Site } from '../html/layout.ts';
import { personText, type Person } from '../html/person.ts';
import type { Words } from '../words/translation.ts';
import { copyButton } from './created.ts';
import { fileBlock } from './file-block.ts';

/** A request for secrets, as those see it who are asked. */
interface OpenRequest {
  readonly id: string;
  readonly from: Person;
  readonly message: string | null;
  readonly deposits_left: number;
  /** In ISO 8601. */
  readonly expires_at: string;
  /** Of the encrypted document. */
  readonly max_bytes: number;
}

/**
 * The page of who is asked for a secret. Its script encrypts for the public key in the address, and shows the form when
 * it can: nobody types what can't be sent.
 * @param isOwn the reader is who asks
 */
export function requestPage(
  site: Site,
  request: OpenRequest,
  { isOwn }: { readonly isOwn: boolean },
): string {
  const { base, words, house } = site;
  const { requests: text } = words;
  const reads = onlyReads(site);
  const { id, from, deposits_left: left, expires_at: expires } = request;
  return page(site, {
    title: text.asked,
    scripts: reads === false ? ['request.js'] : [],
    main: html`<div class="card request"><h1>${text.asked}</h1>
${isOwn && html`<p class="notice attention">${text.ownRequest} <a href="${base}/my/requests/${id}">${text.openOwn}</a></p>\n`}<div
id="asked"><p>${text.askedBy} <strong>${personText(from, words)}</strong></p>
<p class="line"><span>${words.paste.expiresLine} ${formatTime(expires, words)}</span><span>${text.left(left)}</span></p>
${quotation(words, request.message)}<p class="hint">${text.caution}${request.message !== null && html` ${text.unchecked}`}${
      house.links.abuse !== null && html` <a href="${contactLink(house.links.abuse)}">${text.report}</a>`
    }</p>
${
  reads ||
  html`<p id="needs-script" class="notice bad">${text.needsScript}</p>
<div id="refusal" role="alert"></div>
${form(site, request)}`
}</div>
${reads === false && receipt(site, id, left > 1)}</div>`,
  });
}

/** What is asked for, as a quotation: these are the words of a user, beside the name of this service. */
export function quotation({ requests: text }: Words, message: string | null): Html | false {
  if (message === null) return false;
  return html`<figure class="quotation"><figcaption>${text.quotation}</figcaption><blockquote dir="auto">${message}</blockquote></figure>\n`;
}

function form({ base, words }: Site, { id, max_bytes: maxBytes }: OpenRequest): Html {
  const { requests: text, form: fields } = words;
  const atMost = fields.atMost(formatSize(maxBytes, words));
  return html`<form id="deposit" action="${base}/v1/requests/${id}/deposits" data-request="${id}" data-max-bytes="${maxBytes}"
data-words="${JSON.stringify(browserWords(words, atMost))}" hidden>
<div class="editor">
<label for="text">${text.secret}</label>
<textarea id="text" rows="8" dir="ltr" placeholder="${text.placeholder}" spellcheck="false" autocapitalize="off"
autocomplete="off" aria-describedby="text-hint"></textarea>
<div id="files" hidden></div>
<template id="file-template">${fileBlock(words)}</template>
<div class="below"><p id="text-hint" class="hint keys">${text.keys}</p><button id="add-file" type="button"
hidden>${fields.addFile}</button></div>
</div>
<div class="field"><label for="file">${fields.file}</label><input id="file" type="file" multiple
aria-describedby="file-hint"><p id="file-hint" class="hint">${atMost}</p></div>
<div id="form-error" role="alert"></div>
<p id="form-status" class="hint" role="status"></p>
<progress id="progress" max="1" aria-label="${text.inBrowser.sending}" hidden></progress>
<p><button id="send" class="primary" type="submit">${text.send}</button></p>
<p class="hint">${text.privacy}</p>
<details class="explanation"><summary>${words.encrypted.explanationTitle}</summary><p>${text.explanation}</p></details>
</form>
`;
}

/** Shown in place of the rest when the deposit is stored. */
function receipt({ base, words }: Site, id: string, takesMore: boolean): Html {
  const { requests: text } = words;
  return html`<div id="deposited" hidden><h2 tabindex="-1">${text.sent}</h2>
<p>${text.sentText}</p>
<div class="field"><label for="receipt">${text.receipt}</label><div class="copyable"><input id="receipt" dir="ltr" readonly
autocomplete="off" aria-describedby="receipt-hint">${copyButton(words, 'receipt', words.created.copy)}</div><p id="receipt-hint"
class="hint">${text.receiptHint}</p></div>
${takesMore && html`<p><a id="again" class="button" href="${base}/requests/${id}">${text.another}</a></p>`}</div>`;
}

/** What the browser says by itself: DepositWords in browser/request.ts. */
function browserWords(words: Words, tooLarge: string): Readonly<Record<string, unknown>> {
  const { form: fields, problem, requests: text } = words;
  const details = REFUSALS.flatMap((code) => {
    const own = problem.of[code]; // English has the texts of the API
    return own === undefined ? [] : [[code, own.detail]];
  });
  return {
    ...text.inBrowser,
    insecure: words.encryption.insecure,
    empty: fields.empty,
    unreachable: fields.unreachable,
    tooLarge,
    tooMany: fields.atMost(words.paste.files(MAX_FILES)),
    problems: {
      ...Object.fromEntries(details),
      content_too_large: tooLarge,
      quota_exceeded: text.inBrowser.noRoom,
    },
  };
}

/** The codes of the API with which a deposit may be refused. */
const REFUSALS = [
  'request_not_found',
  'request_closed',
  'request_used_up',
  'rate_limited',
  'overloaded',
  'storage_full',
  'content_blocked',
  'dependency_unavailable',
  'unauthorized',
];
