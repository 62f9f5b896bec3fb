import type { Request } from 'express';
import { MAX_WEBHOOKS } from '@pasteflow/domain';
import { listDeliveriesTo, listWebhooks, type Database, type WebhookEndpoint } from '@pasteflow/postgres';
import { readEndpointUrl, webhookSecret } from '@pasteflow/service-kit';
import { myWebhookPage, myWebhooksPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { sendAnswer } from '../http/answers/answer.ts';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { readEmptyForm, readUrlForm } from '../http/body/url-form.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';
import { pageAnswer, sendPage } from '../http/pages/page.ts';
import { nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { contextOf } from '../http/request/request-context.ts';
import { checkedWebhook, makeWebhook, newWebhookSchema } from './create-webhook.ts';
import { sendOwnAgain } from './deliveries.ts';
import { findOwnWebhook, namedId, requireWebhooks } from './find-webhook.ts';
import { removeOwn, rotateOwn, switchOnOwn } from './own-webhooks.ts';
import { viewOfDelivery, viewOfWebhook } from './webhook-view.ts';

const PAGE_SIZE = 20;

/** A secret, an URL that may have one, and the key of a form, which opens the answer with a secret. */
const PRIVATE = { 'Cache-Control': 'private, no-store, no-transform' };

/** GET /my/webhooks: the user's webhooks, and the form that adds one. */
export function myWebhooks(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const found = await listWebhooks(api.db, requireUser(req));
    sendPage(res, listPage(api, req, found), PRIVATE);
  });
}

function listPage(
  api: ApiContext,
  req: Request,
  found: readonly WebhookEndpoint[],
  more: Pick<Parameters<typeof myWebhooksPage>[1], 'secret' | 'refused'> = {},
): string {
  return myWebhooksPage(api.pages.site(req), {
    webhooks: found.map(viewOfWebhook),
    areOn: api.webhooks !== null,
    ...more,
  });
}

const formKey = z.uuid('must be a UUID').optional();

const newForm = z.strictObject({
  url: z.string('must be a text'),
  events: z.array(z.string()),
  form_key: formKey,
});

/** POST /my/webhooks: adds a webhook, and shows its secret; when the answer is reloaded, again. */
export function addMyWebhook(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const form = await readUrlForm(req, res, api.bodies, ['events']);
    const { form_key: key = null, ...sent } = validate(newForm, form);
    const { key: signingKey, origins } = requireWebhooks(api);
    const userId = requireUser(req);
    const before = await listWebhooks(api.db, userId);
    contextOf(req).refusedForm = ({ code }) => {
      if (code === 'webhook_limit_reached' && before.length >= MAX_WEBHOOKS)
        return listPage(api, req, before);
      if (code !== 'validation_failed') return null;
      const read = readEndpointUrl(sent.url, origins);
      const urlProblem = typeof read === 'string' ? read : null;
      return listPage(api, req, before, { refused: { ...sent, urlProblem } });
    };
    const wanted = checkedWebhook(api, validate(newWebhookSchema, sent));
    const claim = await api.idempotency.claim(req, res, JSON.stringify(sent), key);
    if (claim === null) return;
    const { answer } = await claim.commit(async (db) => {
      const { id, generation } = await makeWebhook(db, userId, wanted);
      const secret = webhookSecret(signingKey, id, generation);
      const page = listPage(api, req, await listWebhooks(db, userId), { secret });
      return { answer: pageAnswer(200, page, PRIVATE) };
    });
    sendAnswer(res, answer);
  });
}

const query = z.strictObject({ cursor: pageFields.cursor });

/** GET /my/webhooks/:id: one of them, with its deliveries. */
export function myWebhook(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { cursor } = readQuery(req, query);
    const webhook = await findOwnWebhook(api.db, req);
    sendPage(res, await onePage(api, req, webhook, { db: api.db, cursor }), PRIVATE);
  });
}

async function onePage(
  api: ApiContext,
  req: Request,
  webhook: WebhookEndpoint,
  {
    db,
    cursor,
    secret = null,
  }: { db: Database; cursor?: z.output<typeof query>['cursor']; secret?: string | null },
): Promise<string> {
  const found = await listDeliveriesTo(db, webhook.id, pageRequestOf({ limit: PAGE_SIZE, cursor }));
  return myWebhookPage(api.pages.site(req), {
    webhook: viewOfWebhook(webhook),
    deliveries: found.rows.map(viewOfDelivery),
    isFirst: cursor === undefined,
    next: nextCursorOf(found),
    areOn: api.webhooks !== null,
    secret,
  });
}

const keyForm = z.strictObject({ form_key: formKey });

/**
 * POST /my/webhooks/:id: changes the secret, and shows the new one; when the answer is reloaded, again. It has the address
 * of the page, so that the address bar and bookmarks lead back.
 */
export function rotateMyWebhook(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { form_key: key = null } = validate(keyForm, await readUrlForm(req, res, api.bodies));
    const { key: signingKey } = requireWebhooks(api);
    const claim = await api.idempotency.claim(req, res, '', key);
    if (claim === null) return;
    const { answer } = await claim.commit(async (db) => {
      const webhook = await rotateOwn(db, req);
      const secret = webhookSecret(signingKey, webhook.id, webhook.generation);
      return { answer: pageAnswer(200, await onePage(api, req, webhook, { db, secret }), PRIVATE) };
    });
    sendAnswer(res, answer);
  });
}

/** POST /my/webhooks/:id/switch-on */
export function switchOnMyWebhook(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, api.bodies);
    requireWebhooks(api);
    await unlessShown(switchOnOwn(api.db, req), ['webhook_switched_off']);
    goTo(res, `${api.pages.site(req).base}/my/webhooks/${namedId(req)}`);
  });
}

/** POST /my/webhooks/:id/remove */
export function removeMyWebhook({ db, bodies, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, bodies);
    await removeOwn(db, req);
    goTo(res, `${pages.site(req).base}/my/webhooks`);
  });
}

/** POST /my/webhooks/:id/deliveries/:delivery/retry: sends an event again. */
export function retryMyDelivery(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, api.bodies);
    requireWebhooks(api);
    await unlessShown(sendOwnAgain(api.db, req), ['delivery_waiting', 'webhook_off']);
    goTo(res, `${api.pages.site(req).base}/my/webhooks/${namedId(req)}`);
  });
}

/** Nothing is done, and the page to which the browser goes shows why. */
async function unlessShown(done: Promise<unknown>, shown: readonly ProblemCode[]): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (!(error instanceof RequestError && shown.includes(error.code))) throw error;
  }
}
