import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_WEBHOOKS } from '@pasteflow/domain';
import { switchOffWebhook } from '@pasteflow/postgres';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, ownToken, signedInWith, type TestUser } from './support/users.ts';
import { attemptAll, endJob, hookUrl, newWebhook } from './support/webhooks.ts';

const bed = useApi();

let user: TestUser;
beforeEach(async () => {
  user = await newUser(bed.db);
});

interface Asking {
  readonly by?: TestUser;
  readonly api?: RunningApi;
  readonly language?: string;
}

async function browse(
  path: string,
  init: RequestInit = {},
  { by = user, api = bed.api, language = 'en' }: Asking = {},
) {
  const headers = { ...(init.headers as Record<string, string>), 'accept-language': language };
  return await browseAs(api, await signedInWith(bed.db, by.token), path, { ...init, headers });
}

const markupOf = async (path: string, asking?: Asking) => await (await browse(path, {}, asking)).text();

const send = (path: string, fields: Readonly<Record<string, string>> = {}, asking?: Asking) =>
  browse(path, ownForm(bed.api.url, fields), asking);

const newForm = { url: hookUrl, events: 'job.ended' };
const shownUrl = hookUrl.replace('&', '&amp;');
const secretIn = (markup: string) => /id="secret" value="([^"]+)"/.exec(markup)?.[1];
const keysIn = (markup: string) =>
  [...markup.matchAll(/name="form_key" value="([^"]+)"/g)].map(([, key]) => key!);
const idsIn = (markup: string) =>
  [...markup.matchAll(/href="\/my\/webhooks\/([\w-]{36})"/g)].map(([, id]) => id!);
const formsIn = (markup: string) =>
  [...markup.matchAll(/(?:form)?action="(\/my\/webhooks[^"]*)"/g)].map(([, path]) =>
    path!.replaceAll(/[\w-]{36}/g, 'ID'),
  );

const addOne = async (asking?: Asking) => {
  const { id } = await newWebhook(bed.api.url, asking?.by ?? user);
  return { id, path: `/my/webhooks/${id}` };
};

describe('the page of all webhooks', () => {
  it('adds one, shows its secret once, and keeps it out of every cache and log', async () => {
    const answer = await send('/my/webhooks', newForm);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'private, no-store, no-transform',
    ]);
    const added = await answer.text();
    const secret = secretIn(added);
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(added).toContain('a library of Standard Webhooks (standardwebhooks.com)');
    const again = await browse('/my/webhooks');
    expect(again.headers.get('cache-control')).toBe('private, no-store, no-transform');
    const markup = await again.text();
    expect(markup).not.toContain(secret);
    expect(markup).toContain(`<bdi dir="ltr">${shownUrl}</bdi></a> <span class="badge processed">on</span>`);
    expect(markup).toContain('<p class="line"><span>Job ended</span>');
    expect(JSON.stringify(bed.api.logs)).not.toMatch(/whsec_|hooks\.example/);
  });

  it('shows the secret again when the answer is reloaded, also twice at once, and adds one webhook', async () => {
    const [key = ''] = keysIn(await markupOf('/my/webhooks'));
    const form = { ...newForm, form_key: key };
    const first = await Promise.all([send('/my/webhooks', form), send('/my/webhooks', form)]);
    for (const { status } of first) expect([200, 409]).toContain(status);
    const answers = await Promise.all([send('/my/webhooks', form), send('/my/webhooks', form)]);
    const secrets = await Promise.all(answers.map(async (each) => secretIn(await each.text())));
    expect(secrets[0]).toBeDefined();
    expect(new Set(secrets).size).toBe(1);
    expect(idsIn(await markupOf('/my/webhooks'))).toHaveLength(1);
    expect((await send('/my/webhooks', { ...form, form_key: '1' })).status).toBe(422);
  });

  it.each([
    ['is none', 'not a url', 'Das ist keine URL.'],
    ['is too long', `https://example.com/${'x'.repeat(2000)}`, 'Die URL ist zu lang.'],
    [
      'has a password',
      'https://a:b@example.com/',
      'Die URL darf weder Benutzernamen noch Passwort enthalten.',
    ],
    ['has a fragment', 'https://example.com/#x', 'Die URL darf kein # mit Text dahinter enthalten.'],
    [
      'is not https',
      'http://example.com/',
      'Die URL muss mit https:// beginnen und darf keinen Port nennen.',
    ],
    ['is hostile', 'https://127.0.0.1/"><script>', 'Diese Adresse ist aus dem Internet nicht erreichbar.'],
  ])(
    'says in the language of the reader that the URL %s, and keeps what was entered',
    async (_is, url, words) => {
      const answer = await send('/my/webhooks', { url, events: 'job.ended' }, { language: 'de' });
      const markup = await answer.text();
      expect(answer.status).toBe(422);
      expect(markup).toContain(`id="url-error" class="field-error" role="alert">${words}</p>`);
      expect(markup).toContain('value="job.ended" checked>');
      expect(markup).toContain(`type="url" value="${url.replace('"><script>', '&quot;&gt;&lt;script&gt;')}"`);
      expect(idsIn(await markupOf('/my/webhooks'))).toEqual([]);
    },
  );

  it('asks for an event, and takes none of the operators', async () => {
    const none = await browse('/my/webhooks', ownForm(bed.api.url, { url: hookUrl }));
    const refused = await none.text();
    expect(none.status).toBe(422);
    expect(refused).toContain('>Choose at least one event.</p>');
    expect(refused).toContain('value="paste.stored" autofocus>');
    expect((await send('/my/webhooks', { ...newForm, events: 'report.opened' })).status).toBe(422);
    expect(await markupOf('/my/webhooks')).not.toMatch(/report\.opened|upload\.failed/);
  });

  it('says that there can be no more, instead of the form', async () => {
    for (let i = 0; i < MAX_WEBHOOKS; i += 1) await addOne();
    const markup = await markupOf('/my/webhooks');
    expect(markup).toContain('You have 10 webhooks, and more are not possible.');
    expect(formsIn(markup)).toEqual([]);
    const answer = await send('/my/webhooks', newForm);
    const refused = await answer.text();
    expect([answer.status, idsIn(refused).length]).toEqual([429, 10]);
    expect(refused).toContain('You have 10 webhooks, and more are not possible.');
    expect(idsIn(await markupOf('/my/webhooks'))).toHaveLength(10);
  });
});

describe('the page of one webhook', () => {
  it('shows whether it fails and since when, and nothing to anybody else', async () => {
    const { id, path } = await addOne();
    expect(await markupOf(path)).toContain(`<code dir="ltr">${shownUrl}</code>`);
    await endJob(bed.db, user);
    await attemptAll(bed.db, id, 'failed');
    const markup = await markupOf(path);
    expect(markup).toMatch(/<span class="badge partial">failing<\/span>.*failing since <time /s);
    expect(markup).toContain('After three days without success, the webhook is switched off.');
    const other = await newUser(bed.db);
    expect((await browse(path, {}, { by: other })).status).toBe(404);
    expect((await browse('/my/webhooks/x')).status).toBe(404);
  });

  it('says why it is off, and switches it on', async () => {
    const { id, path } = await addOne();
    await endJob(bed.db, user);
    await attemptAll(bed.db, id, 'refused');
    const off = await markupOf(path);
    expect(off).toContain('Your program answered with the status 410');
    expect(formsIn(off)).not.toContain('/my/webhooks/ID/deliveries/ID/retry');
    expect(await markupOf('/my/webhooks')).toContain('<span class="badge failed">off</span>');
    const answer = await send(`${path}/switch-on`);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, path]);
    expect(await markupOf(path)).toContain('<span class="badge processed">on</span>');
  });

  it('leaves one off that an operator has switched off', async () => {
    const { id, path } = await addOne();
    await switchOffWebhook(bed.db, id);
    const markup = await markupOf(path);
    expect(markup).toContain('The operator of this service has switched the webhook off.');
    expect(formsIn(markup)).toEqual(['/my/webhooks/ID', '/my/webhooks/ID/remove']);
    expect((await send(`${path}/switch-on`)).status).toBe(303);
    expect(await markupOf(path)).toContain('<span class="badge failed">off</span>');
  });

  it('changes the secret, which is shown again when the answer is reloaded, and changes once', async () => {
    const { id, path } = await addOne();
    await endJob(bed.db, user);
    const [key = ''] = keysIn(await markupOf(path));
    const form = { form_key: key };
    const markup = await (await send(path, form)).text();
    const secret = secretIn(markup);
    expect(secret).toMatch(/^whsec_/);
    const again = await send(path, form);
    expect(again.headers.get('cache-control')).toBe('private, no-store, no-transform');
    expect(secretIn(await again.text())).toBe(secret);
    const { generation } = await bed.db
      .selectFrom('webhook_endpoints')
      .select('generation')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(generation).toBe(2);
    expect(await markupOf(path)).not.toContain(secret);
  });

  it('removes it, with its page', async () => {
    const { path } = await addOne();
    const answer = await send(`${path}/remove`);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/my/webhooks']);
    expect(idsIn(await markupOf('/my/webhooks'))).toEqual([]);
    expect((await browse(path)).status).toBe(404);
    expect((await send(`${path}/remove`)).status).toBe(404);
  });
});

describe('the deliveries of a webhook', () => {
  it('are shown with how far they are, and are sent again', async () => {
    const { id, path } = await addOne();
    const job = await endJob(bed.db, user);
    const due = await markupOf(path);
    expect(due).toContain('class="badge processing">waiting</span>');
    expect(due).toContain('<li data-open '); // the browser asks for what becomes of it
    expect(formsIn(due)).not.toContain('/my/webhooks/ID/deliveries/ID/retry');
    await attemptAll(bed.db, id, 'failed');
    const waiting = await markupOf(path);
    expect(waiting).toContain('<span>attempt 2 of 8</span><span>answer: 503</span><span>next attempt <time ');
    expect(waiting).toContain(`<a href="/my/jobs/${job}">Job</a>`);
    await endJob(bed.db, user);
    await attemptAll(bed.db, id, 'taken');
    const [retry = ''] = /\/my\/webhooks\/[\w-]+\/deliveries\/[\w-]+\/retry/.exec(await markupOf(path)) ?? [];
    const answer = await send(retry);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, path]);
    const after = await markupOf(path);
    expect(after).toContain('waiting</span></span> <span class="badge">sent again</span>');
    expect((await send(retry)).status).toBe(303); // it waits already
    expect([...(await markupOf(path)).matchAll(/sent again<\/span>/g)]).toHaveLength(1);
    expect((await send(`${path}/deliveries/${randomUUID()}/retry`)).status).toBe(404);
  });

  it('say in words why there was no answer', async () => {
    const { id, path } = await addOne();
    await endJob(bed.db, user);
    await bed.db
      .updateTable('webhook_endpoints')
      .set({ switched_off_at: new Date(), switched_off_for: 'failing' })
      .where('id', '=', id)
      .execute();
    await bed.db
      .updateTable('webhook_deliveries')
      .set({ status: 'FAILED', failure_reason: 'endpoint off: it is switched off', ended_at: new Date() })
      .where('endpoint_id', '=', id)
      .execute();
    expect(await markupOf(path, { language: 'de' })).toContain(
      '<span>Webhook ausgeschaltet oder entfernt</span>',
    );
  });

  it('are paged', async () => {
    const { path } = await addOne();
    for (let i = 0; i < 21; i += 1) await endJob(bed.db, user);
    const first = await markupOf(path);
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first)!;
    expect([...first.matchAll(/<li /g)]).toHaveLength(20);
    const second = await markupOf(next.replaceAll('&amp;', '&'));
    expect([...second.matchAll(/<li /g)]).toHaveLength(1);
    expect(second).toContain(`<a class="button" href="${path}">First page</a>`);
    expect((await browse(`${path}?cursor=x`)).status).toBe(422);
  });
});

describe('a session that only reads', () => {
  it('sees both pages without a form', async () => {
    const { id, path } = await addOne();
    await endJob(bed.db, user);
    await attemptAll(bed.db, id, 'taken');
    const reader = await ownToken(bed.db, user, 'read');
    for (const page of ['/my/webhooks', path]) {
      const markup = await markupOf(page, { by: reader });
      expect(markup).toContain('hooks.example.com');
      expect(markup).toContain('may only read');
      expect(formsIn(markup)).toEqual([]);
    }
    expect((await send('/my/webhooks', newForm, { by: reader })).status).toBe(403);
  });
});

describe('a service without a key', () => {
  it('has no link to the page, which says so and only removes', async () => {
    const { path } = await addOne();
    const api = await bed.start({ env: { WEBHOOK_KEY: '' } });
    expect(await markupOf('/my/tokens')).toContain('href="/my/webhooks"');
    expect(await markupOf('/my/tokens', { api })).not.toContain('href="/my/webhooks"');
    const off = 'Webhooks are off: the operator of this service has not set them up.';
    const markup = await markupOf('/my/webhooks', { api });
    expect(markup).toContain(off);
    expect(formsIn(markup)).toEqual([]);
    const one = await markupOf(path, { api });
    expect(one).toContain(off);
    expect(formsIn(one)).toEqual(['/my/webhooks/ID/remove']);
    for (const each of [markup, one]) expect(each).not.toContain('class="badge');
    const sendTo = (to: string) => browse(to, ownForm(api.url, newForm), { api });
    expect((await sendTo('/my/webhooks')).status).toBe(403);
    expect((await browse(`${path}/remove`, ownForm(api.url, {}), { api })).status).toBe(303);
    expect(await markupOf('/my/webhooks', { api })).not.toContain('Your webhooks');
  });
});
