import { randomUUID } from 'node:crypto';
import {
  MAX_WEBHOOK_URL_CHARACTERS,
  MAX_WEBHOOKS,
  webhookEventsFor,
  type WebhookEventType,
} from '@pasteflow/domain';
import { formatTime } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { shownOnce } from './created.ts';

/** A webhook in the list of its user. The times are in ISO 8601. */
export interface OwnWebhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  /** Why it is off; null: it is on. */
  readonly switched_off_for: keyof Words['webhooks']['offFor'] | null;
  readonly switched_off_at: string | null;
  /** null: it works. */
  readonly failing_since: string | null;
  readonly created_at: string;
}

/** What the form was sent with, when it was refused. */
interface RefusedWebhook {
  readonly url: string;
  readonly events: readonly string[];
  /** null: the URL is good. */
  readonly urlProblem: keyof Words['webhooks']['urlProblems'] | null;
}

interface MyWebhooks {
  readonly webhooks: readonly OwnWebhook[];
  /** The operator has set up webhooks. */
  readonly areOn: boolean;
  /** The secret of the webhook that was just added; null: none was. */
  readonly secret?: string | null;
  readonly refused?: RefusedWebhook | null;
}

/** The user's webhooks, oldest first, and the form that adds one. */
export function myWebhooksPage(
  site: Site,
  { webhooks, areOn, secret = null, refused = null }: MyWebhooks,
): string {
  const { webhooks: text } = site.words;
  const isFull = webhooks.length >= MAX_WEBHOOKS;
  return page(site, {
    title: text.title,
    scripts: ['my-tokens.js'], // which copies, and shows the times relative to now
    place: '/my/webhooks',
    main: html`<div class="card"><h1>${text.title}</h1>
${secret !== null && shownOnce(site.words, { title: text.made, label: text.secret, secret, hint: text.secretHint })}
<p>${text.intro}</p>
${!areOn && html`<p class="notice attention">${text.off}</p>`}
${areOn && (onlyReads(site) || (isFull ? html`<p class="notice attention">${text.full(MAX_WEBHOOKS)}</p>` : form(site, refused)))}
${(areOn || webhooks.length > 0) && list(site, webhooks, areOn)}</div>`,
  });
}

function form(site: Site, refused: RefusedWebhook | null): Html {
  const { webhooks: text } = site.words;
  const { url = '', events = [], urlProblem = null } = refused ?? {};
  const hasNoEvents = refused !== null && events.length === 0;
  const problem = urlProblem !== null && html` aria-invalid="true" autofocus`;
  return html`<h2 id="add">${text.add}</h2>
<form method="post" action="${site.base}/my/webhooks" aria-labelledby="add">${formUser(site)}
<input type="hidden" name="form_key" value="${randomUUID()}" autocomplete="off">
<div class="field"><label for="url">${text.url}</label><input id="url" name="url" type="url" value="${url}" dir="ltr"
maxlength="${MAX_WEBHOOK_URL_CHARACTERS}" placeholder="https://" required autocomplete="off" spellcheck="false"
aria-describedby="url-error url-hint"${problem}><p id="url-error" class="field-error" role="alert">${
    urlProblem !== null && text.urlProblems[urlProblem]
  }</p>
<p id="url-hint" class="hint">${text.urlHint}</p></div>
<fieldset class="kept field" aria-describedby="events-error"><legend>${text.events}</legend>
<p id="events-error" class="field-error" role="alert">${hasNoEvents && text.noEvents}</p>
${ownEvents.map((type, index) =>
  eventBox(site.words, type, {
    isChosen: events.includes(type),
    hasFocus: hasNoEvents && urlProblem === null && index === 0,
  }),
)}</fieldset>
<p><button class="primary" type="submit">${text.submit}</button></p>
</form>`;
}

const ownEvents = webhookEventsFor('owner');

function eventBox(
  words: Words,
  type: WebhookEventType,
  { isChosen, hasFocus }: { readonly isChosen: boolean; readonly hasFocus: boolean },
): Html {
  const hint = (words.webhooks.eventHints as Readonly<Record<string, string>>)[type];
  return html`<p><label class="check"><input type="checkbox" name="events" value="${type}"${
    isChosen && html` checked`
  }${hasFocus && html` autofocus`}><span>${eventName(words, type)} <small>${hint}</small></span></label></p>\n`;
}

function list(site: Site, webhooks: readonly OwnWebhook[], areOn: boolean): Html {
  const { webhooks: text } = site.words;
  return html`<h2>${text.listTitle}</h2>
${
  webhooks.length === 0
    ? html`<p>${text.none}</p>`
    : html`<ul class="rows">\n${webhooks.map((each) => row(site, each, areOn))}</ul>`
}`;
}

/** @param areOn otherwise nothing is sent, and none is on */
export function row(site: Site, webhook: OwnWebhook, areOn: boolean): Html {
  return html`<li><div><p><a href="${site.base}/my/webhooks/${webhook.id}"><bdi dir="ltr">${webhook.url}</bdi></a> ${areOn && webhookBadge(site.words, webhook)}</p>
${webhookFacts(site.words, webhook)}</div></li>\n`;
}

export function webhookBadge({ webhooks: text }: Words, webhook: OwnWebhook): Html {
  if (webhook.switched_off_for !== null) return html`<span class="badge failed">${text.states.off}</span>`;
  return webhook.failing_since === null
    ? html`<span class="badge processed">${text.states.on}</span>`
    : html`<span class="badge partial">${text.states.failing}</span>`;
}

/** The name of an event; of one that these pages do not know, as the API names it. */
export function eventName({ webhooks }: Words, type: WebhookEventType): string {
  return (webhooks.eventNames as Readonly<Record<string, string>>)[type] ?? type;
}

/** What it is told, and the times. */
export function webhookFacts(words: Words, webhook: OwnWebhook): Html {
  const { webhooks: text } = words;
  const { events, created_at: created, switched_off_at: off, failing_since: failing } = webhook;
  return html`<p class="line">${events.map((type) => html`<span>${eventName(words, type)}</span>`)}<span>${text.added} ${formatTime(created, words)}</span>${
    off !== null && html`<span>${text.offSince} ${formatTime(off, words)}</span>`
  }${off === null && failing !== null && html`<span>${text.failingSince} ${formatTime(failing, words)}</span>`}</p>`;
}
