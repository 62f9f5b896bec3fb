import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_WEBHOOKS } from '@pasteflow/domain';
import { eraseUser } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { codeOf, problemOf } from './support/http.ts';
import { newKey, postKeyed, wholeAnswer } from './support/keyed.ts';
import { newUser, ownToken, type TestUser } from './support/users.ts';
import {
  addWebhook,
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

describe('POST /v1/webhooks', () => {
  it('makes an endpoint that is on, whose secret no row has and no other answer shows', async () => {
    const answer = await addWebhook(bed.api.url, user, {
      events: ['job.ended', 'paste.stored', 'job.ended'],
    });
    expect(answer.status).toBe(201);
    const { secret, ...made } = (await answer.json()) as SigningWebhook;
    expect(made).toEqual({
      id: expect.any(String),
      url: hookUrl,
      events: ['paste.stored', 'job.ended'],
      status: 'on',
      switched_off_for: null,
      switched_off_at: null,
      failing_since: null,
      created_at: expect.any(String),
      rotated_at: null,
    });
    expect(answer.headers.get('location')).toBe(`${bed.api.url}/v1/webhooks/${made.id}`);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await listWebhooks(bed.api.url, user)).toEqual([made]);
    expect(await (await callWebhooks(bed.api.url, user, 'GET', `/${made.id}`)).json()).toEqual(made);
    const rows = await sql`SELECT * FROM webhook_endpoints`.execute(bed.db);
    expect(JSON.stringify([rows, bed.api.logs])).not.toContain(secret);
  });

  it.each([
    [
      'paste.stored',
      'paste.failed',
      'paste.read',
      'paste.deleted',
      'paste.expired',
      'deposit.arrived',
      'job.ended',
    ],
  ])('takes every event of users', async (...events) => {
    expect((await newWebhook(bed.api.url, user, { events })).events).toEqual(events);
  });

  it.each<[string, unknown]>([
    ['no events', { events: [] }],
    ['an unknown event', { events: ['paste.eaten'] }],
    ['an event of operators', { events: ['report.opened'] }],
    ['another event of operators', { events: ['job.ended', 'upload.failed'] }],
    ['a text as events', { events: 'job.ended' }],
    ['null as events', { events: null }],
    ['a number among the events', { events: [1] }],
  ])('refuses %s', async (_, fields) => {
    const { code, errors } = await problemOf(await addWebhook(bed.api.url, user, fields));
    expect([code, errors![0]!.path]).toEqual(['validation_failed', expect.stringMatching(/^events(\.\d)?$/)]);
  });

  it.each<[string, unknown, RegExp]>([
    ['no URL', 'hooks.example.com', /must be a URL/],
    ['an empty text', '', /must be a URL/],
    ['a number', 1, /must be a text/],
    ['http', 'http://hooks.example.com/hidden', /begin with https:/],
    ['another port', 'https://hooks.example.com:8443/hidden', /name no port/],
    ['another scheme', 'file:///etc/passwd', /begin with https:/],
    ['javascript', 'javascript:alert(1)', /begin with https:/],
    ['a password', 'https://user:hidden@hooks.example.com/', /no user name/],
    ['a fragment', 'https://hooks.example.com/#hidden', /no fragment/],
    ['localhost', 'https://localhost/hidden', /public internet/],
    ['a name of the local network', 'https://printer/hidden', /public internet/],
    ['the metadata of a cloud', 'https://169.254.169.254/hidden', /public internet/],
    ['a private address as a number', 'https://0x7f000001/hidden', /public internet/],
    ['a private address in IPv6', 'https://[::ffff:10.0.0.1]/hidden', /public internet/],
    ['2001 characters', `https://hooks.example.com/${'x'.repeat(1975)}`, /at most 2000 characters/],
    ['more when it is encoded', `https://hooks.example.com/${'ä'.repeat(400)}`, /at most 2000 characters/],
    ['another port of a listed host', 'http://127.0.0.1:9998/hidden', /begin with https:/],
  ])('refuses %s as URL, and does not repeat it', async (_, url, rule) => {
    const answer = await addWebhook(bed.api.url, user, { url });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([422, expect.stringMatching(rule)]);
    expect(JSON.parse(text)).toMatchObject({ code: 'validation_failed', errors: [{ path: 'url' }] });
    expect(text).not.toMatch(/hidden|passwd|alert|xxxx/);
  });

  it.each<[string, string, string]>([
    ['a public address', 'https://1.1.1.1/x', 'https://1.1.1.1/x'],
    ['2000 characters', `https://h.example/${'x'.repeat(1982)}`, `https://h.example/${'x'.repeat(1982)}`],
    ['a name in another script', 'https://bücher.example/ä', 'https://xn--bcher-kva.example/%C3%A4'],
    ['what a browser would correct', ' HTTPS://Hooks.Example.com:443/\ta\n', 'https://hooks.example.com/a'],
    ['a listed origin', 'http://127.0.0.1:9999/x', 'http://127.0.0.1:9999/x'],
    ['another listed origin', 'https://hooks.internal:8443/x', 'https://hooks.internal:8443/x'],
  ])('takes %s as URL', async (_, url, stored) => {
    expect((await newWebhook(bed.api.url, user, { url })).url).toBe(stored);
  });

  it.each<[string, string, string]>([
    ['no JSON', '{"url": ', '400 malformed_request'],
    ['a list', '[]', '422 validation_failed'],
    [
      'an unknown field',
      `{"url": "${hookUrl}", "events": ["job.ended"], "secret": "x"}`,
      '422 validation_failed',
    ],
    [
      'the id of a user',
      `{"url": "${hookUrl}", "events": ["job.ended"], "user_id": null}`,
      '422 validation_failed',
    ],
    [
      'a repeated name',
      `{"url": "${hookUrl}", "url": "x", "events": ["job.ended"]}`,
      '422 validation_failed',
    ],
    [
      'NUL',
      '{"url": "https://hooks.example.com/a\\u0000", "events": ["job.ended"]}',
      '422 validation_failed',
    ],
    [
      'half a character',
      '{"url": "https://hooks.example.com/\\ud800", "events": ["job.ended"]}',
      '422 validation_failed',
    ],
    ['too many bytes', `{"url": "${'x'.repeat(16_384)}", "events": []}`, '413 content_too_large'],
    [
      'too many events',
      JSON.stringify({ url: hookUrl, events: Array(50_001).fill('x') }),
      '413 content_too_large',
    ],
  ])('refuses %s', async (_, body, expected) => {
    expect(await codeOf(addWebhook(bed.api.url, user, body))).toBe(expected);
  });

  it('takes a body of JSON alone', async () => {
    const post = {
      key: newKey(),
      path: '/v1/webhooks',
      type: 'text/plain',
      body: '{}',
      headers: user.headers,
    };
    expect(await codeOf(postKeyed(bed.api.url, post))).toBe('415 unsupported_media_type');
  });

  it('is for users whose token writes', async () => {
    expect(await codeOf(addWebhook(bed.api.url, { headers: {} }))).toBe('401 unauthorized');
    const reader = await ownToken(bed.db, user, 'read');
    expect(await codeOf(addWebhook(bed.api.url, reader))).toBe('403 insufficient_scope');
    expect((await addWebhook(bed.api.url, await ownToken(bed.db, user, 'write'))).status).toBe(201);
    await eraseUser(bed.db, stranger.id);
    expect(await codeOf(addWebhook(bed.api.url, stranger))).toBe('401 unauthorized');
  });

  it('makes one endpoint for one Idempotency-Key, whose secret is shown again', async () => {
    const body = JSON.stringify({ url: hookUrl, events: ['job.ended'] });
    const post = {
      key: newKey(),
      path: '/v1/webhooks',
      type: 'application/json',
      body,
      headers: user.headers,
    };
    const first = await wholeAnswer(await postKeyed(bed.api.url, post));
    const second = await wholeAnswer(await postKeyed(bed.api.url, post));
    expect(first).toMatchObject({ status: 201, replayed: false });
    expect(second).toEqual({ ...first, replayed: true });
    expect(await listWebhooks(bed.api.url, user)).toHaveLength(1);
    const other = body.replace('job.ended', 'paste.read');
    expect(await codeOf(postKeyed(bed.api.url, { ...post, body: other }))).toBe('422 idempotency_key_reused');
    const { secret } = JSON.parse(first.body.toString()) as SigningWebhook;
    const keys = await bed.db.selectFrom('idempotency_keys').selectAll().execute();
    expect(keys.some(({ answer }) => answer?.includes(secret) || answer?.includes(hookUrl))).toBe(false);
  });

  it('keeps exactly the bound of twenty at once, with and without a key, and says what to do', async () => {
    const body = JSON.stringify({ url: hookUrl, events: ['job.ended'] });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? addWebhook(bed.api.url, user)
          : postKeyed(bed.api.url, {
              key: newKey(),
              path: '/v1/webhooks',
              type: 'application/json',
              body,
              headers: user.headers,
            }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status }) => status)).toEqual(Array(20 - MAX_WEBHOOKS).fill(429));
    expect(refused[0]!.headers.get('retry-after')).toBeNull();
    const { code, detail } = await problemOf(refused[0]!);
    expect([code, detail]).toEqual(['webhook_limit_reached', expect.stringContaining('Remove one')]);
    const [{ id }] = (await listWebhooks(bed.api.url, user)) as [WebhookView];
    expect(await listWebhooks(bed.api.url, user)).toHaveLength(MAX_WEBHOOKS);
    expect((await callWebhooks(bed.api.url, user, 'DELETE', `/${id}`)).status).toBe(204);
    expect((await addWebhook(bed.api.url, user)).status).toBe(201);
    expect(await codeOf(addWebhook(bed.api.url, user))).toBe('429 webhook_limit_reached');
    expect((await addWebhook(bed.api.url, stranger)).status).toBe(201);
  });
});
