import { randomUUID } from 'node:crypto';
import {
  webhookEvents,
  webhookRetryPolicy,
  type WebhookDeliveryState,
  type WebhookEventType,
} from '@pasteflow/domain';
import { pageLinks } from '../html/filter-form.ts';
import { formatTime, timeText } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';
import { reasonOf } from '../timeline/tables.ts';
import { shownOnce } from './created.ts';
import { eventName, webhookBadge, webhookFacts, type OwnWebhook } from './my-webhooks.ts';

/** A delivery in the list of its webhook. The times are in ISO 8601. */
export interface OwnDelivery {
  readonly id: string;
  readonly type: WebhookEventType;
  readonly data: {
    readonly [About in (typeof webhookEvents)[WebhookEventType]['about']]?: string | undefined;
  };
  readonly happened_at: string;
  readonly status: WebhookDeliveryState;
  readonly attempts: number;
  /** null: none waits. */
  readonly next_attempt_at: string | null;
  /** The status of the last answer; null: there was none. */
  readonly answered: number | null;
  /** Why the last attempt failed; null: none has. */
  readonly reason: { readonly class: string; readonly text: string | null } | null;
  /** null: it is the first one. */
  readonly retry_of: string | null;
}

interface MyWebhook {
  readonly webhook: OwnWebhook;
  /** Newest first. */
  readonly deliveries: readonly OwnDelivery[];
  readonly isFirst: boolean;
  readonly next: string | null;
  /** The operator has set up webhooks, without which nothing is sent and signed. */
  readonly areOn: boolean;
  /** The new secret; null: it was not changed. */
  readonly secret?: string | null;
}

/** One webhook of the user: whether it works, what it was sent, and what can be done about it. */
export function myWebhookPage(site: Site, shown: MyWebhook): string {
  const { webhook, areOn, secret = null } = shown;
  const { base, words } = site;
  const { webhooks: text } = words;
  const action = `${base}/my/webhooks/${webhook.id}`;
  const reads = onlyReads(site);
  const canSend = areOn && reads === false;
  /** New ones come to the first page, and the browser module shows them. */
  const isLive = shown.isFirst && areOn && webhook.switched_off_for === null;
  const title = `${text.one} ${new URL(webhook.url).host}`;
  const hint = html`${text.secretHint} ${text.changedHint}`;
  return page(site, {
    title,
    scripts: ['my-webhook.js'],
    main: html`<div class="card"><h1>${text.one} <bdi dir="ltr">${new URL(webhook.url).host}</bdi> <span id="state">${areOn && webhookBadge(words, webhook)}</span></h1>
${secret !== null && shownOnce(words, { title: text.changed, label: text.secret, secret, hint })}
<p class="line"><code dir="ltr">${webhook.url}</code></p>
${webhookFacts(words, webhook)}
${reads}${!areOn && html`<p class="notice attention">${text.off}</p>`}
<div id="trouble">${areOn && trouble(site, webhook, canSend)}</div>
<h2>${text.deliveries}</h2>
<p id="ended" role="status" class="visually-hidden"></p>
<div id="deliveries"${isLive && html` data-open`}>${list(site, shown, canSend && webhook.switched_off_for === null)}
${pageLinks(site, action, {}, shown)}</div>
${canSend && confirmed(site, { action, look: '', hasKey: true, title: text.change, hint: text.changeHint, button: text.changeButton })}
${reads === false && confirmed(site, { action: `${action}/remove`, look: 'danger', title: text.remove, hint: text.removeHint, button: text.removeButton })}
<p><a class="button" href="${base}/my/webhooks">${words.back(text.title)}</a></p></div>`,
  });
}

/** Why it is off or may be soon, with the button that switches it on. An operator alone ends what an operator has done. */
function trouble(site: Site, webhook: OwnWebhook, canSend: boolean): Html | false {
  const { webhooks: text } = site.words;
  const { switched_off_for: cause, failing_since: failing } = webhook;
  if (cause === null) return failing !== null && html`<p class="notice attention">${text.failingHint}</p>`;
  return html`<div class="notice bad"><p>${text.offFor[cause]}</p>${
    canSend &&
    cause !== 'operator' &&
    html`\n<form method="post" action="${site.base}/my/webhooks/${webhook.id}/switch-on">${formUser(site)}
<p class="hint">${text.switchOnHint}</p>
<p><button type="submit">${text.switchOn}</button></p>
</form>`
  }</div>`;
}

function list(site: Site, { webhook, deliveries }: MyWebhook, canSend: boolean): Html {
  if (deliveries.length === 0) return html`<p>${site.words.webhooks.noDeliveries}</p>`;
  const path = canSend ? `${site.base}/my/webhooks/${webhook.id}/deliveries` : null;
  const now = Date.now();
  const rows = html`<ul class="rows">\n${deliveries.map((each) => row(site, each, { path, now }))}</ul>`;
  if (!canSend) return rows;
  return html`<form method="post">${formUser(site)}
${rows}
</form>`;
}

const LOOKS = { WAITING: 'processing', DELIVERED: 'succeeded', FAILED: 'failed' } as const;

const MAX_ATTEMPTS = webhookRetryPolicy.delaysMs.length + 1;

/** The browser module follows a delivery whose next attempt comes within this. */
const SOON_MS = 60_000;

/**
 * @param path of the deliveries of the webhook; null: nothing can be sent
 */
export function row(
  site: Site,
  delivery: OwnDelivery,
  { path, now }: { readonly path: string | null; readonly now: number },
): Html {
  const { words } = site;
  const { webhooks: text } = words;
  const { id, type, status, attempts, answered, happened_at: at, next_attempt_at: next } = delivery;
  const name = eventName(words, type);
  const reason = status === 'DELIVERED' ? null : reasonOfDelivery(site, delivery);
  const waitMs = next === null ? 0 : Date.parse(next) - now;
  const isOpen = status === 'WAITING' && waitMs < SOON_MS;
  const button = html`<button type="submit" formaction="${path}/${id}/retry"
aria-label="${text.sendOneAgain(name, timeText(at, words))}">${text.sendAgain}</button>`;
  return html`<li${isOpen && html` data-open`} id="delivery-${id}"><div><p><strong>${name}</strong> <span data-part><span
class="badge ${LOOKS[status]}">${text.deliveryStates[status]}</span></span>${
    delivery.retry_of !== null && html` <span class="badge">${text.again}</span>`
  }</p>
<p class="line" data-part><span>${subject(site, delivery)}</span><span>${formatTime(at, words)}</span>${
    attempts > 1 && html`<span>${text.attempt(attempts, MAX_ATTEMPTS)}</span>`
  }${answered !== null && html`<span>${text.answered(answered)}</span>`}${
    next !== null && waitMs > 0 && html`<span>${text.next} ${formatTime(next, words)}</span>`
  }${reason !== null && html`<span>${reason}</span>`}</p></div>
<p data-part>${path !== null && status !== 'WAITING' && button}</p></li>\n`;
}

/** null: nothing has failed, or the status of the answer says it. */
function reasonOfDelivery({ words }: Site, { reason, answered }: OwnDelivery): Html | string | null {
  if (reason === null || reason.text === `answered ${answered}`) return null;
  return reasonOf(words, reason.class, reason.text);
}

/** The link to what the event is about. */
function subject({ base, words }: Site, { type, data }: OwnDelivery): Html {
  const { about } = webhookEvents[type];
  const { subjects } = words.webhooks;
  const name = data[about] ?? '';
  if (about === 'short_code')
    return html`<a href="${base}/${name}">${subjects[about]} <bdi dir="ltr">${name}</bdi></a>`;
  const list = about === 'job_id' ? 'jobs' : 'requests';
  return html`<a href="${base}/my/${list}/${name}">${subjects[about]}</a>`;
}

/** A form behind a word, so that no single click does it. */
function confirmed(
  site: Site,
  form: {
    readonly action: string;
    readonly look: string;
    /** Its answer has a secret, which a reload shows again. Default: false. */
    readonly hasKey?: boolean;
    readonly title: string;
    readonly hint: string;
    readonly button: string;
  },
): Html {
  return html`<details class="explanation"><summary>${form.title}</summary>
<form method="post" action="${form.action}">${formUser(site)}${
    form.hasKey === true &&
    html`\n<input type="hidden" name="form_key" value="${randomUUID()}" autocomplete="off">`
  }
<p class="hint">${form.hint}</p>
<p><button class="${form.look}" type="submit">${form.button}</button></p>
</form></details>`;
}
