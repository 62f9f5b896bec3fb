import { ofUser, type AccessCase } from './access-cases.ts';
import { attemptAll, endJob, hookUrl, newWebhook, type DeliveryView } from './webhooks.ts';

/** What is done with an endpoint of the owner. For everybody else there is none. */
function ofWebhook(method: string, rest: string, owner: number): AccessCase[] {
  const prepare: AccessCase['prepare'] = async ({ api }, user) => {
    const { id } = await newOne(api.url, user);
    return { path: `/v1/webhooks/${id}${rest}`, init: { method } };
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
      prepare: async ({ api, db }, owner) => {
        const { id } = await newOne(api.url, owner);
        await endJob(db, owner);
        await attemptAll(db, id, 'taken');
        const path = `/v1/webhooks/${id}/deliveries`;
        const list = (await (await fetch(api.url + path, owner)).json()) as { deliveries: DeliveryView[] };
        return { path: `${path}/${list.deliveries[0]!.id}/retry`, init: { method: 'POST' } };
      },
      none: 401,
      other: 404,
      owner: 202,
    },
  ],
};
