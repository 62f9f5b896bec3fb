import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { switchOffWebhook } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { codeOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { claimForDeletion, processedPaste } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';
import { attemptAll, callWebhooks, endJob, newWebhook, type DeliveryView } from './support/webhooks.ts';

const bed = useApi();

let user: TestUser;
let endpoint: string;
beforeEach(async () => {
  user = await newUser(bed.db);
  ({ id: endpoint } = await newWebhook(bed.api.url, user));
});

const call = (method: string, path: string) =>
  callWebhooks(bed.api.url, user, method, `/${endpoint}/deliveries${path}`);
const resend = (delivery: string) => call('POST', `/${delivery}/retry`);

interface DeliveryPage {
  readonly deliveries: readonly DeliveryView[];
  readonly next_cursor: string | null;
}

async function listed(query = ''): Promise<DeliveryPage> {
  return (await (await call('GET', query)).json()) as DeliveryPage;
}

const only = async () => (await listed()).deliveries[0]!;

describe('GET /v1/webhooks/:id/deliveries', () => {
  it('shows a delivery that waits, fails for now and is taken', async () => {
    const jobId = await endJob(bed.db, user);
    const waiting = {
      id: expect.any(String),
      event_id: expect.any(String),
      type: 'job.ended',
      data: { job_id: jobId },
      happened_at: expect.any(String),
      status: 'WAITING',
      attempts: 1,
      next_attempt_at: expect.any(String),
      answered: null,
      reason: null,
      retry_of: null,
      created_at: expect.any(String),
      ended_at: null,
    };
    expect(await listed()).toEqual({ deliveries: [waiting], next_cursor: null });
    await attemptAll(bed.db, endpoint, 'failed');
    const reason = { class: 'endpoint_failed', text: 'answered 503' };
    expect(await only()).toEqual({ ...waiting, attempts: 2, answered: 503, reason });
    await sql`UPDATE task_executions SET run_at = now() WHERE endpoint_id = ${endpoint} AND status = 'PENDING'`.execute(
      bed.db,
    );
    await attemptAll(bed.db, endpoint, 'taken');
    const taken = { status: 'DELIVERED', answered: 204, next_attempt_at: null, ended_at: expect.any(String) };
    expect(await only()).toEqual({ ...waiting, ...taken, attempts: 2 });
  });

  it('shows why it was given up, and no name of a host', async () => {
    await endJob(bed.db, user);
    await attemptAll(bed.db, endpoint, 'refused');
    const reason = { class: 'endpoint_failed', text: 'answered 410' };
    expect(await only()).toMatchObject({ status: 'FAILED', answered: 410, reason, next_attempt_at: null });
    const failure = 'database unavailable: connect ECONNREFUSED 10.0.0.1:5432';
    await sql`UPDATE webhook_deliveries SET failure_reason = ${failure} WHERE endpoint_id = ${endpoint}`.execute(
      bed.db,
    );
    expect(await only()).toMatchObject({
      reason: { class: 'database_unavailable', text: 'database unavailable' },
    });
  });

  it('names a paste by its short code', async () => {
    const { id } = await newWebhook(bed.api.url, user, { events: ['paste.expired'] });
    const code = await processedPaste(bed, 'x', { userId: user.id });
    await claimForDeletion(bed.db, code);
    endpoint = id;
    expect(await only()).toMatchObject({ type: 'paste.expired', data: { short_code: code } });
  });

  it('leaves out an event of a later release, as there may be after a rollback', async () => {
    const jobId = await endJob(bed.db, user);
    await sql`
      INSERT INTO webhook_deliveries (endpoint_id, user_id, event_id, type, about, occurrence)
      VALUES (${endpoint}, ${user.id}, uuid_v7(), 'paste.painted', 'code', 'code')`.execute(bed.db);
    expect((await listed()).deliveries).toMatchObject([{ data: { job_id: jobId } }]);
    const session = await signedInWith(bed.db, user.token);
    const page = await browseAs(bed.api, session, `/my/webhooks/${endpoint}`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(jobId)]);
  });

  it('lists them in pages, newest first', async () => {
    const jobs: string[] = [];
    for (let i = 0; i < 5; i += 1) jobs.push(await endJob(bed.db, user));
    const found: DeliveryView[] = [];
    for (let query = '?limit=2', pages = 1; ; pages += 1) {
      const page = await listed(query);
      found.push(...page.deliveries);
      if (page.next_cursor === null) {
        expect(pages).toBe(3);
        break;
      }
      query = `?limit=2&cursor=${page.next_cursor}`;
    }
    expect(found.map((each) => each as unknown)).toEqual(
      jobs.toReversed().map((id) => expect.objectContaining({ data: { job_id: id } })),
    );
    expect(await codeOf(call('GET', '?cursor=x'))).toBe('422 validation_failed');
    expect(await codeOf(call('GET', '?limit=0'))).toBe('422 validation_failed');
  });
});

describe('POST /v1/webhooks/:id/deliveries/:delivery/retry', () => {
  it('sends the event of an ended delivery again, as a new one, once for one key', async () => {
    await endJob(bed.db, user);
    await attemptAll(bed.db, endpoint, 'taken');
    const first = await only();
    const path = `/v1/webhooks/${endpoint}/deliveries/${first.id.toUpperCase()}/retry`;
    const post = { key: newKey(), path, type: '', body: '', headers: user.headers };
    const answers = [await postKeyed(bed.api.url, post), await postKeyed(bed.api.url, post)];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    const { id } = (await answers[0]!.json()) as { id: string };
    expect(await answers[1]!.json()).toEqual({ id });
    expect((await listed()).deliveries).toEqual([
      expect.objectContaining({ id, retry_of: first.id, event_id: first.event_id, status: 'WAITING' }),
      first,
    ]);
    const [sent] = await attemptAll(bed.db, endpoint, 'taken');
    expect(sent).toMatchObject({ deliveryId: id, eventId: first.event_id });
  });

  it('sends it once more for ten requests at once', async () => {
    await endJob(bed.db, user);
    await attemptAll(bed.db, endpoint, 'taken');
    const { id } = await only();
    const answers = await Promise.all(Array.from({ length: 10 }, () => resend(id)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([202, ...Array<number>(9).fill(409)]);
    expect((await listed()).deliveries).toHaveLength(2);
  });

  it('is refused for a delivery that waits, and for an endpoint that is off', async () => {
    await endJob(bed.db, user);
    const { id } = await only();
    expect(await codeOf(resend(id))).toBe('409 delivery_waiting');
    await attemptAll(bed.db, endpoint, 'refused');
    expect(await codeOf(resend(id))).toBe('409 webhook_off');
    await switchOffWebhook(bed.db, endpoint);
    expect(await codeOf(resend(id))).toBe('409 webhook_off');
    expect((await listed()).deliveries).toHaveLength(1);
  });

  it('finds no delivery to another endpoint, and nothing for a text that is no id', async () => {
    const first = endpoint;
    await endJob(bed.db, user);
    await attemptAll(bed.db, first, 'taken');
    const { id } = await only();
    ({ id: endpoint } = await newWebhook(bed.api.url, user));
    for (const other of [id, randomUUID(), 'x', "x' OR true"])
      expect(await codeOf(resend(encodeURIComponent(other)))).toBe('404 delivery_not_found');
    endpoint = first;
    expect((await listed()).deliveries).toHaveLength(1);
  });
});
