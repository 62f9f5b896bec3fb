import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AUDIENCE, OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { createWebhook, switchOffWebhook } from '@pasteflow/postgres';
import { webhookSecret } from '@pasteflow/service-kit';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { codeOf, problemOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { newUser, ownToken, type TestUser } from './support/users.ts';
import {
  addWebhook,
  attemptAll,
  callWebhooks,
  hookUrl,
  listWebhooks,
  newWebhook,
  type SigningWebhook,
  type WebhookView,
} from './support/webhooks.ts';

const bed = useApi({ env: { WEBHOOK_ORIGINS: 'http://127.0.0.1:9999,https://hooks.internal:8443' } });

let user: TestUser;
let stranger: TestUser;
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  user = await newUser(bed.db);
  stranger = await newUser(bed.db);
});

type Caller = Pick<TestUser, 'headers'>;

const nobody: Caller = { headers: {} };
const call = (method: string, path = '', as: Caller = user) => callWebhooks(bed.api.url, as, method, path);

const listed = (as: Caller = user) => listWebhooks(bed.api.url, as);

async function shown(id: string): Promise<WebhookView> {
  return (await (await call('GET', `/${id}`)).json()) as WebhookView;
}

describe('an endpoint of somebody else', () => {
  it('is in no list, is not found by anybody, and its URL is in no log', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    const operators = await createWebhook(bed.db, { userId: null, url: hookUrl, events: ['report.opened'] });
    expect(await listed(stranger)).toEqual([]);
    for (const other of [id, operators!.id, randomUUID(), 'x', "x' OR true", id.slice(1)])
      for (const [method, rest] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/rotate'],
        ['POST', '/switch-on'],
        ['GET', '/deliveries'],
        ['POST', `/deliveries/${randomUUID()}/retry`],
      ] as const) {
        const answer = await call(method, `/${encodeURIComponent(other)}${rest}`, stranger);
        const text = await answer.text();
        expect([answer.status, text]).toEqual([404, expect.stringContaining('webhook_not_found')]);
        expect(text).not.toContain('hooks.example.com');
      }
    expect(await listed()).toMatchObject([{ id, rotated_at: null, status: 'on' }]);
    expect(JSON.stringify(bed.api.logs)).not.toMatch(/hooks\.example\.com|path-and-secret/);
  });

  it('is for users, and changed by tokens that write', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    const reader = await ownToken(bed.db, user, 'read');
    for (const rest of ['', `/${id}`, `/${id}/deliveries`]) {
      expect(await codeOf(call('GET', rest, nobody))).toBe('401 unauthorized');
      expect((await call('GET', rest, reader)).status).toBe(200);
    }
    const path = `/${id}/deliveries/${randomUUID()}/retry`;
    for (const [method, rest] of [
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate`],
      ['POST', `/${id}/switch-on`],
      ['POST', path],
    ] as const) {
      expect(await codeOf(call(method, rest, nobody))).toBe('401 unauthorized');
      expect(await codeOf(call(method, rest, reader))).toBe('403 insufficient_scope');
    }
    expect(await shown(id)).toMatchObject({ id, rotated_at: null });
  });
});

describe('DELETE /v1/webhooks/:id', () => {
  it('removes it with its URL, and is done by one of two at once', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    const answers = await Promise.all([1, 2].map(() => call('DELETE', `/${id.toUpperCase()}`)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404]);
    expect(await listed()).toEqual([]);
    expect(await codeOf(call('GET', `/${id}`))).toBe('404 webhook_not_found');
    const { rows } = await sql`SELECT url FROM webhook_endpoints WHERE id = ${id}`.execute(bed.db);
    expect(rows).toEqual([{ url: null }]);
  });
});

describe('POST /v1/webhooks/:id/rotate', () => {
  it('makes another secret, and shows it here alone', async () => {
    const { id, secret, ...made } = await newWebhook(bed.api.url, user);
    const answer = await call('POST', `/${id}/rotate`);
    expect(answer.status).toBe(200);
    const rotated = (await answer.json()) as SigningWebhook;
    expect(rotated).toEqual({ ...made, id, rotated_at: expect.any(String), secret: expect.any(String) });
    expect(rotated.secret).not.toBe(secret);
    const key = 'the key of webhooks in these tests';
    expect([secret, rotated.secret]).toEqual([1, 2].map((generation) => webhookSecret(key, id, generation)));
    expect(await shown(id)).not.toHaveProperty('secret');
  });

  it('changes it once for one Idempotency-Key', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    const post = {
      key: newKey(),
      path: `/v1/webhooks/${id}/rotate`,
      type: '',
      body: '',
      headers: user.headers,
    };
    const [first, second] = [await postKeyed(bed.api.url, post), await postKeyed(bed.api.url, post)];
    const { secret } = (await first.json()) as SigningWebhook;
    expect(await second.json()).toMatchObject({ secret });
    expect(secret).toBe(webhookSecret('the key of webhooks in these tests', id, 2));
  });
});

describe('POST /v1/webhooks/:id/switch-on', () => {
  it('switches one on that was gone, and changes nothing when it is repeated', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    await sql`SELECT record_events(ARRAY['job.ended'], ARRAY[${user.id}::uuid], ARRAY['x'], ARRAY['x'])`.execute(
      bed.db,
    );
    await attemptAll(bed.db, id, 'refused');
    expect(await shown(id)).toMatchObject({
      status: 'off',
      switched_off_for: 'gone',
      switched_off_at: expect.any(String),
      failing_since: expect.any(String),
    });
    for (let i = 0; i < 2; i += 1) {
      const answer = await call('POST', `/${id}/switch-on`);
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({
          id,
          status: 'on',
          switched_off_for: null,
          switched_off_at: null,
          failing_since: null,
        }),
      ]);
    }
  });

  it('is refused for one that an operator has switched off', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    await switchOffWebhook(bed.db, id);
    expect(await shown(id)).toMatchObject({ status: 'off', switched_off_for: 'operator' });
    expect(await codeOf(call('POST', `/${id}/switch-on`))).toBe('409 webhook_switched_off');
    expect(await shown(id)).toMatchObject({ status: 'off' });
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
  });
});

describe('where there is no WEBHOOK_KEY', () => {
  it('shows and removes what is there, makes nothing, and says so', async () => {
    const { id } = await newWebhook(bed.api.url, user);
    const { url } = await bed.start({ env: { WEBHOOK_KEY: '' } });
    const at = (method: string, path = '') =>
      fetch(`${url}/v1/webhooks${path}`, { method, headers: user.headers });
    expect(await (await at('GET')).json()).toMatchObject({ webhooks: [{ id }] });
    expect((await at('GET', `/${id}/deliveries`)).status).toBe(200);
    const { status, code, detail } = await problemOf(await addWebhook(url, user));
    expect([status, code, detail]).toEqual([
      403,
      'webhooks_off',
      expect.stringContaining('sends no webhooks'),
    ]);
    for (const rest of ['/rotate', '/switch-on', `/deliveries/${randomUUID()}/retry`])
      expect(await codeOf(at('POST', `/${id}${rest}`))).toBe('403 webhooks_off');
    expect((await at('DELETE', `/${id}`)).status).toBe(204);
  });
});

describe('a user of the identity provider', () => {
  let issuer: OidcIssuer;
  beforeAll(async () => {
    for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
    issuer = await OidcIssuer.start(['alice']);
  });
  afterAll(() => issuer?.down());

  it('has webhooks as others', async () => {
    const { url } = await bed.start({ env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE } });
    const alice = { headers: { authorization: `Bearer ${await issuer.token('alice')}` } };
    const { id } = await newWebhook(url, alice);
    expect((await fetch(`${url}/v1/webhooks/${id}`, alice)).status).toBe(200);
    expect(await listed()).toEqual([]);
  });
});
