import {
  DEFAULT_REQUEST_SECONDS,
  MAX_DEPOSITS,
  MAX_REQUEST_MESSAGE_CHARACTERS,
  type SecretRequestState,
} from '@pasteflow/domain';
import { choice, pageLinks } from '../html/filter-form.ts';
import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { onlyReads, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';

/** A request in the list of its user. The times are in ISO 8601. */
export interface OwnRequest {
  readonly id: string;
  readonly status: SecretRequestState;
  readonly isExpired: boolean;
  readonly message: string | null;
  readonly deposits: number;
  readonly deposits_left: number;
  readonly created_at: string;
  readonly expires_at: string;
}

interface MyRequests {
  readonly requests: readonly OwnRequest[];
  readonly isFirst: boolean;
  readonly next: string | null;
}

/** The form of a new request, whose keys its script makes, and the user's requests, newest first. */
export function myRequestsPage(site: Site, list: MyRequests): string {
  const { base, words } = site;
  const { requests: text } = words;
  const action = `${base}/my/requests`;
  return page(site, {
    title: text.title,
    scripts: ['my-requests.js'],
    place: '/my/requests',
    main: html`<div class="card"><h1>${text.title}</h1>
<p>${text.intro}</p>
${onlyReads(site) || form(site)}
<h2>${text.listTitle}</h2>
<p id="ended" role="status" class="visually-hidden"></p>
${
  list.requests.length === 0
    ? html`<p>${text.none}</p>`
    : html`<ul class="rows">\n${list.requests.map((each) => row(site, each))}</ul>`
}
${pageLinks(site, action, {}, list)}</div>`,
  });
}

function form({ base, words }: Site): Html {
  const { requests: text, form: fields, encryption } = words;
  const expiries = Object.entries(fields.expiries).filter(([seconds]) => Number(seconds) <= 2_592_000);
  return html`<h2 id="make">${text.make}</h2>
<p id="needs-script" class="notice bad">${text.needsScript}</p>
<p id="needs-https" class="notice bad" hidden>${encryption.insecure}</p>
<form id="new-request" class="narrow" action="${base}/v1/requests" data-pages="${base}/my/requests"
data-unreachable="${text.notMade}" data-problems="${JSON.stringify(refusals(words))}" aria-labelledby="make" hidden>
<div class="field"><label for="message">${text.message}</label><input id="message" name="message" dir="auto"
maxlength="${MAX_REQUEST_MESSAGE_CHARACTERS}" autocomplete="off" aria-describedby="message-error message-hint"><p id="message-error"
class="field-error" role="alert" data-refused="${text.messageRefused}"></p><p id="message-hint" class="hint">${text.messageHint}</p></div>
<div class="field"><label for="deposits">${text.deposits}</label><input id="deposits" name="deposits" type="number" min="1"
max="${MAX_DEPOSITS}" value="1" required></div>
${choice({ id: 'expires_in', label: fields.labels.expires_in }, expiries, String(DEFAULT_REQUEST_SECONDS))}
<div id="form-error" role="alert"></div>
<p><button id="submit" class="primary" type="submit">${text.submit}</button></p>
</form>`;
}

/** In other languages than that of the API, whose words for who is signed out are those for programs. */
function refusals({ form: fields, problem }: Words): Readonly<Record<string, string>> {
  const codes = ['request_limit_reached', 'rate_limited', 'insufficient_scope'];
  return Object.fromEntries([
    ['unauthorized', fields.userChanged],
    ...codes.flatMap((code) => {
      const own = problem.of[code];
      return own === undefined ? [] : [[code, own.detail] as const];
    }),
  ]);
}

function row(site: Site, request: OwnRequest): Html {
  const { message } = request;
  const { requests: text } = site.words;
  return html`<li${isOpen(request) && html` data-open`} id="request-${request.id}"><div><p><a href="${site.base}/my/requests/${request.id}">${
    message === null ? text.noMessage : html`<bdi>${message}</bdi>`
  }</a></p>
${requestFacts(site.words, request)}</div></li>\n`;
}

/** It takes deposits. */
export const isOpen = ({ status, isExpired }: OwnRequest): boolean => status === 'OPEN' && !isExpired;

/** The state, how many have come, and the times. Its script shows them again when something has come. */
export function requestFacts(words: Words, request: OwnRequest): Html {
  const { requests: text, paste } = words;
  const {
    deposits,
    deposits_left: left,
    status,
    isExpired,
    created_at: created,
    expires_at: expires,
  } = request;
  const state = status === 'OPEN' && isExpired ? 'EXPIRED' : status;
  return html`<p class="line" data-part><span class="badge ${state === 'OPEN' ? 'processing' : 'ended'}">${text.states[state]}</span><span>${text.arrived(deposits - left, deposits)}</span><span>${text.made} ${formatTime(created, words)}</span>${
    state === 'OPEN' && html`<span>${paste.expiresLine} ${formatTime(expires, words)}</span>`
  }</p>`;
}
