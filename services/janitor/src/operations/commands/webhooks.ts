import { text } from 'node:stream/consumers';
import { MAX_WEBHOOKS, webhookEventsFor, type WebhookEventType } from '@pasteflow/domain';
import { createWebhook, type KnownWebhook } from '@pasteflow/postgres';
import {
  asJson,
  formatMillisecond,
  formatTable,
  misused,
  readEndpointUrl,
  succeeded,
  toOneLine,
  webhookSecret,
} from '@pasteflow/service-kit';
import { Refused } from '../actions/action.ts';
import { operator } from '../actions/record.ts';
import { originOf, readWebhooks } from '../reports/webhooks.ts';
import type { OwnCommand } from './command.ts';
import { answerAndRecord } from './recorded-answer.ts';

/** The endpoints of everybody. */
export const webhooks: OwnCommand = {
  name: 'webhooks',
  help: 'lists the endpoints of webhooks, with their origins',
  run: async ({ db }, { json }) => {
    const found = await readWebhooks(db);
    if (json) return succeeded(asJson(found.map(fieldsOf)));
    return succeeded(found.length === 0 ? 'There are no webhooks.\n' : listText(found));
  },
};

function listText(found: readonly KnownWebhook[]): string {
  const rows = found.map((endpoint) => [
    endpoint.id,
    endpoint.userId === null ? 'operators' : toOneLine(endpoint.userName ?? endpoint.userId),
    originOf(endpoint),
    endpoint.events.join(', '),
    endpoint.switchedOffFor === null
      ? 'on'
      : `off since ${formatMillisecond(endpoint.switchedOffAt)}: ${endpoint.switchedOffFor}`,
    formatMillisecond(endpoint.failingSince),
    `${endpoint.waiting}${endpoint.waiting >= MAX_COUNTED ? '+' : ''}`,
  ]);
  return formatTable(['ID', 'WHOSE', 'ORIGIN', 'EVENTS', 'STATE', 'FAILING SINCE', '>WAITING'], rows);
}

/** The count of `KnownWebhook.waiting` stops here. */
const MAX_COUNTED = 1000;

function fieldsOf(endpoint: KnownWebhook): object {
  const { id, userId, userName, events, createdAt, failingSince, switchedOffAt, switchedOffFor, waiting } =
    endpoint;
  return {
    id,
    user_id: userId,
    user: userName,
    origin: originOf(endpoint),
    events,
    status: switchedOffAt === null ? 'on' : 'off',
    switched_off_for: switchedOffFor,
    switched_off_at: switchedOffAt,
    failing_since: failingSince,
    waiting,
    created_at: createdAt,
  };
}

const eventsOfOperators = webhookEventsFor('operators');

/** An endpoint of the operators. The record has its origin alone. */
export const addWebhook: OwnCommand<{
  readonly url: string;
  readonly events: readonly WebhookEventType[];
}> = {
  name: 'add-webhook',
  takes: 'URL|- EVENT…',
  help: `adds an endpoint of the operators for ${eventsOfOperators.join(', ')}, and shows its secret once; - reads the URL from standard input, so that no list of processes shows it`,
  read: ([url, ...names]) => {
    const events = eventsOfOperators.filter((event) => names.includes(event));
    const isKnown = names.every((name) => eventsOfOperators.some((event) => event === name));
    return url === undefined || events.length === 0 || !isKnown
      ? misused(`add-webhook takes a URL, and one or more of the events ${eventsOfOperators.join(' and ')}`)
      : { url, events };
  },
  run: async ({ db, config: { webhooks: settings } }, { url, events, json }) =>
    await answerAndRecord(
      db,
      { actor: operator(), action: 'add-webhook', subject: '', reason: null },
      async () => {
        if (settings === null)
          throw new Refused('webhooks are off; set WEBHOOK_KEY, as for the api and the upload-worker');
        const read = readEndpointUrl(
          url === '-' ? (await text(process.stdin)).trim() : url,
          settings.origins,
        );
        if (typeof read === 'string')
          throw new Refused(
            `the URL ${read}; take an https URL on port 443 that is public, or list its origin in WEBHOOK_ORIGINS`,
          );
        const added = await createWebhook(db, { userId: null, url: read.url.href, events });
        if (added === null)
          throw new Refused(`the operators have ${MAX_WEBHOOKS} endpoints already; remove one`);
        const secret = webhookSecret(settings.key, added.id, added.generation);
        const shown = json
          ? asJson({ id: added.id, origin: originOf(added), events, secret })
          : `Added the endpoint ${added.id}. Its secret, which is not shown again:\n${secret}\n`;
        return {
          answer: succeeded(shown),
          outcome: `Added the endpoint ${added.id} at ${originOf(added)} for ${events.join(', ')}.`,
        };
      },
    ),
};
