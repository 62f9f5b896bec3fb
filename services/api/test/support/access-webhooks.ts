import type { ApiBed } from './api.ts';
import { ofUser, type AccessCase } from './access-cases.ts';
import { ownForm } from './http.ts';
import { attemptAll, endJob, hookUrl, newWebhook, type DeliveryView } from './webhooks.ts';
import type { TestUser } from './users.ts';

/** What is done with an endpoint of the owner. For everybody else there is none. */
function ofWebhook(method: string, rest: string, owner: number): AccessCase[] {
  const prepare: AccessCase['prepare'] = async ({ api }, user) => {
    const { id } = await newOne(api.url, user);
    return { path: `/v1/webhooks/${id}${rest}`, init: { method } };
  };
  return [{ prepare, none: 401, other: 404, owner }];
}

/** A page of an endpoint of the owner, or one of its forms. */
function pageOfWebhook(method: 'GET' | 'POST', rest: string, owner: number): AccessCase[] {
  const prepare: AccessCase['prepare'] = async ({ api }, user) => {
    const { id } = await newOne(api.url, user);
    return { path: `/my/webhooks/${id}${rest}`, init: method === 'GET' ? {} : ownForm(api.url, {}) };
  };
  return [{ prepare, none: 401, other: 404, owner }];
}

/** A user has ten at most. */
async function newOne(url: string, user: { readonly headers: Readonly<Record<string, string>> }) {
  const { webhooks } = (await (await fetch(`${url}/v1/webhooks`, user)).json()) as {
    webhooks: { id: string }[];
  };
  for (const { id } of webhooks) await fetch(`${url}/v1/webhooks/${id}`, { ...user, method: 'DELETE' });
  return await newWebhook(url, user);
}

/** The endpoints of webhooks. */
export const accessToWebhooks: Readonly<Record<string, readonly AccessCase[]>> = {
  'GET /v1/webhooks': ofUser('/v1/webhooks'),
  'POST /v1/webhooks': [
    {
      prepare: () =>
        Promise.resolve({
          path: '/v1/webhooks',
          init: {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ url: hookUrl, events: ['paste.stored'] }),
          },
        }),
      none: 401,
      other: 201,
      owner: 201,
    },
  ],
  'GET /v1/webhooks/:id': ofWebhook('GET', '', 200),
  'DELETE /v1/webhooks/:id': ofWebhook('DELETE', '', 204),
  'POST /v1/webhooks/:id/rotate': ofWebhook('POST', '/rotate', 200),
  'POST /v1/webhooks/:id/switch-on': ofWebhook('POST', '/switch-on', 200),
  'GET /v1/webhooks/:id/deliveries': ofWebhook('GET', '/deliveries', 200),
  'POST /v1/webhooks/:id/deliveries/:delivery/retry': [
    {
      prepare: async (bed, owner) => ({
        path: `/v1${await endedDelivery(bed, owner)}/retry`,
        init: { method: 'POST' },
      }),
      none: 401,
      other: 404,
      owner: 202,
    },
  ],
  'GET /my/webhooks': ofUser('/my/webhooks'),
  // Without an event, so that nothing is added.
  'POST /my/webhooks': [
    {
      prepare: ({ api }) =>
        Promise.resolve({ path: '/my/webhooks', init: ownForm(api.url, { url: hookUrl }) }),
      none: 401,
      other: 422,
      owner: 422,
    },
  ],
  'GET /my/webhooks/:id': pageOfWebhook('GET', '', 200),
  'POST /my/webhooks/:id': pageOfWebhook('POST', '', 200),
  'POST /my/webhooks/:id/switch-on': pageOfWebhook('POST', '/switch-on', 303),
  'POST /my/webhooks/:id/remove': pageOfWebhook('POST', '/remove', 303),
  'POST /my/webhooks/:id/deliveries/:delivery/retry': [
    {
      prepare: async (bed, owner) => ({
        path: `/my${await endedDelivery(bed, owner)}/retry`,
        init: ownForm(bed.api.url, {}),
      }),
      none: 401,
      other: 404,
      owner: 303,
    },
  ],
};

/** @returns the path of a delivery of the owner that has ended, below `/v1` and `/my` */
async function endedDelivery({ api, db }: ApiBed, owner: TestUser): Promise<string> {
  const { id } = await newOne(api.url, owner);
  await endJob(db, owner);
  await attemptAll(db, id, 'taken');
  const path = `/webhooks/${id}/deliveries`;
  const list = (await (await fetch(`${api.url}/v1${path}`, owner)).json()) as { deliveries: DeliveryView[] };
  return `${path}/${list.deliveries[0]!.id}`;
}
