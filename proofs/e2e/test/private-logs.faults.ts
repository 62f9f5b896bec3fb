import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findTraces, startCluster, type Cluster, type User } from '../src/index.ts';

/** What no log may contain, each with a mark of its own, so that a failure names the leak. */
const secrets = {
  content: mark(),
  title: mark(),
  fileName: mark(),
  syntax: mark(),
  idempotencyKey: mark(),
  unknownToken: mark(),
  unknownScheme: mark(),
  unknownDeleteToken: mark(),
  query: mark(),
  cookie: mark(),
};

function mark(): string {
  return `secret${randomBytes(9).toString('hex')}`;
}

/** Ends with a line feed, so that a JSON parser's error would quote it. */
const content = `${secrets.content}\n`.repeat(3);

let cluster: Cluster;
let alice: User;
/** Tokens and signatures, which are known only once they were answered. */
const answered: Record<string, string> = {};

beforeAll(async () => {
  cluster = await startCluster({
    env: {
      LOG_LEVEL: 'debug',
      UPLOAD_RETRY_DELAYS_MS: '50',
      JOB_RETRY_DELAYS_MS: '50',
      SWEEP_INTERVALS: 'dead-letters=0.5',
    },
  });
  alice = await cluster.user('alice');
  answered.token = alice.token;
});
afterAll(() => cluster.stop());

const json = { 'content-type': 'application/json' };
const bearer = () => ({ authorization: `Bearer ${alice.token}` });

async function post(
  body: unknown,
  headers: Record<string, string> = {},
  path = '/v1/pastes',
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return await cluster.http().post(text, { path, headers: { ...json, ...headers } });
}

async function expectStatus(sent: Promise<Response>, ...statuses: number[]): Promise<Response> {
  const response = await sent;
  expect(statuses).toContain(response.status);
  return response;
}

describe('logs at the level debug', () => {
  it('say nothing of pastes that are created in every form, read, and refused', async () => {
    const secretPaste = { content, title: secrets.title, visibility: 'private' };
    await expectStatus(post({ ...secretPaste, syntax: secrets.syntax }, bearer()), 422);
    const created = await expectStatus(post(secretPaste, bearer()), 201);
    const { short_code: code } = (await created.json()) as { short_code: string };
    await cluster.untilStatus(code, 'PROCESSED');
    for (const headers of [bearer(), { ...bearer(), cookie: `session=${secrets.cookie}` }])
      await expectStatus(cluster.http().request(`/${code}?q=${secrets.query}`, { headers }), 200);
    const key = { 'idempotency-key': secrets.idempotencyKey };
    for (const body of [secretPaste, secretPaste])
      await expectStatus(post(body, { ...bearer(), ...key }), 201);
    await expectStatus(post({ ...secretPaste, content: 'x' }, { ...bearer(), ...key }), 422);

    const raw = { 'content-type': 'text/plain', ...bearer() };
    await expectStatus(post(content, raw, `/v1/pastes?title=${secrets.title}`), 201);
    await expectStatus(post(content, raw, `/v1/pastes?title=${secrets.title}&unknown=${secrets.query}`), 422);
    const form = new FormData();
    form.set('title', secrets.title);
    form.set('content', new Blob([content]), secrets.fileName);
    await expectStatus(cluster.http().request('/', { method: 'POST', body: form, headers: bearer() }), 201);
    const anonymous = (await (await expectStatus(post({ content }), 201)).json()) as { delete_token: string };
    answered.deleteToken = anonymous.delete_token;

    for (const wrong of [content, `{"content":"${content}`, `{"${secrets.content}":`, `[${content}]`])
      await expectStatus(post(wrong, bearer()), 400, 422);
    await expectStatus(post({ content, title: `${secrets.title}\u0000` }, bearer()), 422);
    await expectStatus(post({ content, [secrets.query]: 1 }, bearer()), 422);
    await expectStatus(post({ content }, { authorization: `Bearer ${secrets.unknownToken}` }), 401);
    await expectStatus(post({ content }, { authorization: `Basic ${secrets.unknownScheme}` }), 401);
    await expectStatus(
      cluster.http().request(`/v1/pastes/${code}`, {
        method: 'DELETE',
        headers: { ...bearer(), 'delete-token': secrets.unknownDeleteToken },
      }),
      204,
    );
    expectNoTraces();
  });

  it('say nothing of the links of invitations, accepted, wrong, or while Postgres is away', async () => {
    answered.invitation = randomBytes(32).toString('base64url');
    answered.wrongInvitation = randomBytes(32).toString('base64url');
    await cluster.rows.query(
      `INSERT INTO invitations (user_id, secret_hash, expires_at) VALUES ($1, sha256($2), now() + interval '1 hour')`,
      [alice.userId, Buffer.from(answered.invitation)],
    );
    const http = cluster.http();
    const own = { origin: http.url, 'sec-fetch-site': 'same-origin', accept: 'text/html' };
    const accept = async (secret: string) =>
      await http.request(`/invitation/${secret}`, {
        method: 'POST',
        headers: own,
        body: new URLSearchParams({ form_key: randomUUID() }),
      });
    await expectStatus(http.request(`/invitation/${answered.invitation}`), 200);
    await expectStatus(http.request(`/invitation/${answered.invitation}/`), 200);
    await expectStatus(accept(answered.wrongInvitation), 404);
    await cluster.postgres.down();
    await expectStatus(accept(answered.invitation), 503);
    await cluster.postgres.up();
    await cluster.until(async () => (await accept(answered.invitation!)).status === 201);
    await expectStatus(accept(answered.invitation), 410);
    expectNoTraces();
  });

  it('say nothing when S3 fails for puts and reads, and a worker dies', async () => {
    const undo = cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 });
    const failed = await alice.pastes.create(content, { title: secrets.title });
    await cluster.untilStatus(failed.short_code, 'FAILED');
    undo();
    const read = await alice.pastes.create(content, { title: secrets.title, wait: true });
    const noReads = cluster.s3.rule({ method: 'GET' }, { kind: 'fail', status: 500 });
    await expectStatus(cluster.http().request(`/${read.short_code}`), 503);
    noReads();
    const held = cluster.s3.hold({ method: 'PUT' });
    const late = await alice.pastes.create(content, { title: secrets.title });
    const put = await held;
    await cluster.workers[0]!.kill();
    await cluster.workers[0]!.start();
    put.drop();
    await cluster.untilStatus(late.short_code, 'PROCESSED');
    expect(cluster.workers[0]!.log.map(({ message }) => message)).toContain('upload attempt failed');
    expectNoTraces();
  });

  it('say nothing when Postgres refuses a row, or goes away in the middle of a creation', async () => {
    await cluster.rows.query(
      `ALTER TABLE pastes ADD CONSTRAINT no_marks CHECK (title NOT LIKE '%${secrets.title}%') NOT VALID`,
    );
    await expectStatus(post({ content, title: secrets.title }, bearer()), 500);
    await cluster.rows.query('ALTER TABLE pastes DROP CONSTRAINT no_marks');
    await cluster.postgres.down();
    const key = { 'idempotency-key': secrets.idempotencyKey.slice(1) };
    await expectStatus(post({ content, title: secrets.title }, { ...bearer(), ...key }), 503);
    await cluster.postgres.up();
    await cluster.until(async () => (await post({ content, title: secrets.title }, bearer())).status === 201);
    expect(cluster.apis[0]!.log.map(({ message }) => message)).toContain('request failed');
    expectNoTraces();
  });

  it('say nothing of imports that fail, of an export and its URL, and of unreadable messages', async () => {
    const items = [
      { content, title: secrets.title },
      { content, title: `${secrets.title}\n` },
      { content_base64: `${secrets.content}!`, title: secrets.title },
    ];
    await expectStatus(post({ job_type: 'import', parameters: { items } }, bearer(), '/v1/jobs'), 202);
    await expectStatus(
      post({ job_type: 'import', parameters: { items, [secrets.query]: content } }, bearer(), '/v1/jobs'),
      422,
    );
    const lines = `${JSON.stringify({ content, title: secrets.title })}\n{"content": ${content}`;
    const source = await alice.pastes.create(lines, { wait: true });
    const parameters = { source_short_code: source.short_code };
    const { job_id: imported } = await alice.jobs.create({ job_type: 'import', parameters });
    await alice.jobs.wait(imported).catch(() => null);
    const { job_id: exported } = await alice.jobs.create({
      job_type: 'export',
      parameters: { format: 'ndjson' },
    });
    await alice.jobs.wait(exported).catch(() => null);
    const {
      items: [archive],
    } = await alice.jobs.assets(exported).page();
    answered.signature = new URL(archive!.url).searchParams.get('X-Amz-Signature')!;

    await cluster.rows.query(
      `ALTER TABLE pastes ADD CONSTRAINT no_marks CHECK (title NOT LIKE '%${secrets.title}%') NOT VALID`,
    );
    const { job_id: refused } = await alice.jobs.create({
      job_type: 'import',
      parameters: { items: items.slice(0, 1) },
    });
    await expect(alice.jobs.wait(refused)).rejects.toThrow('An internal error of the service');
    await cluster.rows.query('ALTER TABLE pastes DROP CONSTRAINT no_marks');

    const base64 = Buffer.from(content).toString('base64');
    for (const message of [
      content,
      `{"shortCode":"${secrets.content}`,
      JSON.stringify({ shortCode: secrets.query, contentBytes: `${base64} ${content}` }),
    ]) {
      await cluster.queues.send('uploads', message);
      await cluster.queues.send('jobs', message);
    }
    const dropped = () =>
      cluster.janitors[0]!.log.filter(({ message }) => message === 'unreadable dead letter dropped');
    await cluster.until(() => dropped().length >= 6);
    expectNoTraces();
  });
});

function expectNoTraces(): void {
  const lines = cluster.services.flatMap((service) => service.output);
  expect(lines.length).toBeGreaterThan(10);
  for (const [name, secret] of Object.entries({ ...secrets, ...answered }))
    expect({ [name]: findTraces(secret, lines) }).toEqual({ [name]: [] });
}

describe('the search for traces', () => {
  it('finds a secret in each form in which a log could have it', () => {
    for (const offset of [0, 1, 2]) {
      const text = `${'x'.repeat(offset)}${secrets.content}tail`;
      const forms = [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64')];
      expect(findTraces(secrets.content, forms)).toEqual(forms);
    }
    expect(findTraces(secrets.content, [secrets.title])).toEqual([]);
  });
});
