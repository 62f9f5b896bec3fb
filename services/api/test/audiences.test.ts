import { beforeAll, describe, expect, it } from '@jest/globals';
import { findPaste, jobSubject, retryFailed, settleExecutions } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { readEvents } from './support/event-reader.ts';
import { claim, newJob } from './support/jobs.ts';
import { claimUpload, failedPaste, newPaste, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const DELETE_TOKEN = { 'delete-token': 'the token' };

/**
 * What only operators may see: the actor of the test's worker, and an error with names of hosts and modules.
 */
const INTERNAL_NAMES = /host-17|4711|ab12|@smithy|ECONNREFUSED/;
/** One random id in some hundred contains 4711 or ab12. */
const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
const ERROR = '@smithy/node-http-handler: connect ECONNREFUSED host-17:9000';

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

interface Why {
  readonly actor?: string;
  readonly reason_class?: string | null;
  readonly reason?: string | null;
  readonly error_class?: string | null;
  readonly error?: string | null;
}

type Headers = Readonly<Record<string, string>>;

async function timelineOf(
  path: string,
  headers: Headers,
): Promise<{ transitions: Why[]; executions: Why[] }> {
  const response = await fetch(`${bed.api.url}/v1/${path}/timeline`, { headers });
  const text = await response.text();
  expect(text.replaceAll(ID, 'an id')).not.toMatch(INTERNAL_NAMES);
  expect(text).not.toContain('worker_id');
  return JSON.parse(text) as { transitions: Why[]; executions: Why[] };
}

async function eventsOf(path: string, headers: Headers): Promise<Why[]> {
  const reader = await readEvents(`${bed.api.url}/v1/${path}/events`, headers);
  await reader.over;
  expect(JSON.stringify(reader.events).replaceAll(ID, 'an id')).not.toMatch(INTERNAL_NAMES);
  return reader.events.flatMap(({ event, data }) => (event === 'transition' ? [data as Why] : []));
}

async function metadataOf(code: string, headers: Headers): Promise<object> {
  return (await (await fetch(`${bed.api.url}/v1/pastes/${code}`, { headers })).json()) as object;
}

const failure = {
  reason_class: 'storage_unavailable',
  actor: 'worker',
};

describe('a stranger at the timeline of a failed paste', () => {
  it.each([
    ['without a token', () => ({})],
    ['with the token of another user', () => other.headers],
    ['with a delete token', () => DELETE_TOKEN],
  ])('sees the class of each reason and actor, and no text: %s', async (_, headers) => {
    for (const userId of [owner.id, null]) {
      const code = await failedPaste(bed.db, { userId });
      const { transitions, executions } = await timelineOf(`pastes/${code}`, headers());
      expect(transitions).toHaveLength(3);
      expect(transitions.map(({ reason }) => reason)).toEqual([null, null, null]);
      expect(transitions[0]).toMatchObject({ actor: 'worker', reason_class: 'claimed' });
      expect(transitions.slice(1)).toMatchObject([failure, failure]);
      expect(executions).toMatchObject([{ error_class: 'storage_unavailable', error: null }]);
      expect(await eventsOf(`pastes/${code}`, headers())).toEqual(transitions);
      expect(await metadataOf(code, headers())).toMatchObject({
        failure_class: 'storage_unavailable',
        failure_reason: null,
      });
    }
  });
});

describe('the retry of a failed paste by an operator', () => {
  const by = { actor: 'ops/alice@host-17', reason: 'S3 is back' };
  const retriesAt = async (code: string, headers: Headers) =>
    ((await timelineOf(`pastes/${code}`, headers)) as unknown as { retries: object[] }).retries;

  it('is in the timeline: strangers see the class of its actor and reason, and the owner the text', async () => {
    const code = await failedPaste(bed.db, { userId: owner.id });
    const { id } = (await findPaste(bed.db, code))!;
    expect(await retriesAt(code, owner.headers)).toEqual([]);
    await retryFailed(bed.db, [code], by);
    const seen = { from: id, at: expect.any(String), actor: 'operator', reason_class: 'retried' };
    expect(await retriesAt(code, {})).toEqual([{ ...seen, reason: null }]);
    expect(await retriesAt(code, other.headers)).toEqual([{ ...seen, reason: null }]);
    expect(await retriesAt(code, owner.headers)).toEqual([{ ...seen, reason: 'S3 is back' }]);
    const page = await fetch(`${bed.api.url}/${code}/timeline`, { headers: { accept: 'text/html' } });
    const markup = await page.text();
    expect(markup).toMatch(/<rect class="bad"[^>]*><title>in progress → failed/);
    expect(markup).toMatch(/<h2>Retries<\/h2>[^]*<td[^>]*>operator<\/td>\s*<td[^>]*>retried<\/td>/);
    expect(markup).not.toContain('S3 is back');
  });

  it('has a class also when the operator gave no reason', async () => {
    const code = await failedPaste(bed.db, { userId: owner.id });
    await retryFailed(bed.db, [code], { ...by, reason: null });
    expect(await retriesAt(code, owner.headers)).toMatchObject([
      { reason_class: 'retried', reason: 'retried' },
    ]);
  });
});

describe('the owner of a failed paste', () => {
  it('sees the texts that name no host, in the timeline, the events, the paste and the list', async () => {
    const user = await newUser(bed.db);
    const code = await failedPaste(bed.db, { userId: user.id, visibility: 'private' });
    const { transitions, executions } = await timelineOf(`pastes/${code}`, user.headers);
    const texts = new Set(transitions.map(({ reason }) => reason));
    expect(texts).toEqual(new Set(['claimed', 'S3 answered 503', 'S3 was down']));
    expect(executions).toMatchObject([{ error_class: 'storage_unavailable', error: 'S3 answered 503' }]);
    expect(await eventsOf(`pastes/${code}`, user.headers)).toEqual(transitions);
    const shown = { failure_class: 'storage_unavailable', failure_reason: 'S3 was down' };
    expect(await metadataOf(code, user.headers)).toMatchObject(shown);
    const list = await fetch(`${bed.api.url}/v1/pastes`, { headers: user.headers });
    expect(await list.json()).toMatchObject({ pastes: [shown] });
  });

  it('sees no text of a class for operators, and of an unknown one', async () => {
    const code = await newPaste(bed.db, 'content', { userId: owner.id });
    const id = await claimUpload(bed.db, code);
    const by = { actor: 'janitor/host-17-4711-ab12', dispatched: true };
    await bed.db
      .updateTable('task_executions')
      .set({ status: 'FAILED', error: ERROR, finished_at: new Date(), lease_expires_at: null })
      .where('id', '=', id)
      .execute();
    const { transitions, executions } = await timelineOf(`pastes/${code}`, owner.headers);
    expect(transitions.at(-1)).toMatchObject({ actor: 'operator', reason_class: 'other', reason: null });
    expect(executions).toMatchObject([{ error_class: 'other', error: null }]);

    const jobId = await newJob(bed.db, owner);
    const executionId = await claim(bed.db, jobId);
    const outcome = { kind: 'lost', error: 'worker lost: upload-worker/host-17-4711-ab12' } as const;
    const nextStep = { kind: 'retry', attempt: 1, delayMs: 0 } as const;
    await settleExecutions(bed.db, jobSubject, [{ executionId, outcome, nextStep, ending: null }], by);
    const job = await timelineOf(`jobs/${jobId}`, owner.headers);
    expect(job.transitions.at(-1)).toMatchObject({
      actor: 'janitor',
      reason_class: 'worker_lost',
      reason: 'worker lost',
    });
    expect(job.executions[0]).toMatchObject({ error_class: 'worker_lost', error: 'worker lost' });
  });
});

describe('the owner of a job', () => {
  /** A job that was given up for this reason. @returns its error_message, as every answer has it */
  async function errorMessageAfter(reason: string): Promise<unknown> {
    const jobId = await newJob(bed.db, owner);
    const executionId = await claim(bed.db, jobId);
    const settlement = {
      executionId,
      outcome: { kind: 'failed', error: reason },
      nextStep: { kind: 'give_up', reason },
      ending: null,
    } as const;
    await settleExecutions(bed.db, jobSubject, [settlement], { actor: 'upload-worker/x', dispatched: true });
    await timelineOf(`jobs/${jobId}`, owner.headers);
    await eventsOf(`jobs/${jobId}`, owner.headers);
    const read = async (path: string) =>
      await (await fetch(`${bed.api.url}/v1/jobs${path}`, { headers: owner.headers })).text();
    const [one, list] = [await read(`/${jobId}`), await read('?limit=1')];
    expect((one + list).replaceAll(ID, 'an id')).not.toMatch(INTERNAL_NAMES);
    const { error_message: message } = JSON.parse(one) as { error_message: unknown };
    expect(JSON.parse(list)).toMatchObject({ jobs: [{ id: jobId, error_message: message }] });
    return message;
  }

  it.each([
    [
      'storage unavailable: 6 attempts failed; the last: S3 answered 503',
      '6 attempts failed; the last: S3 answered 503',
    ],
    [`database unavailable: 6 attempts failed; the last: ${ERROR}`, 'database unavailable'],
    ['lost too often: lost 6 times; the last: worker lost', 'lost 6 times; the last: worker lost'],
    ['There is no paste q7Zk2Lm9Xa.', 'There is no paste q7Zk2Lm9Xa.'],
  ])('reads %p as %p', async (stored, shown) => {
    expect(await errorMessageAfter(stored)).toBe(shown);
  });

  it('reads that the service has failed, and not how', async () => {
    const stored = `internal: 6 attempts failed; the last: ${ERROR}`;
    expect(await errorMessageAfter(stored)).toMatch(/^An internal error of the service\./);
  });
});

describe('an answer to a request with a token', () => {
  it('is left in no cache, whatever its status', async () => {
    const code = await failedPaste(bed.db, { userId: owner.id });
    const jobId = await newJob(bed.db, owner);
    const paths = [
      ['/v1/pastes', 200, 401],
      [`/v1/pastes/${code}`, 200, 200],
      [`/v1/pastes/${code}/timeline`, 200, 200],
      [`/v1/pastes/${code}/content`, 404, 404],
      ['/v1/jobs', 200, 401],
      [`/v1/jobs/${jobId}`, 200, 403],
      [`/v1/jobs/${jobId}/assets`, 200, 403],
      [`/v1/jobs/${jobId}/timeline`, 200, 403],
      ['/v1/jobs?limit=0', 422, 401],
      ['/v1/nothing', 404, 404],
    ] as const;
    for (const [path, status, ofOther] of paths) {
      const own = await fetch(bed.api.url + path, { headers: owner.headers });
      const wrong = ofOther === 401 ? { authorization: 'Bearer wrong' } : other.headers;
      const others = await fetch(bed.api.url + path, { headers: wrong });
      expect([path, own.status, others.status]).toEqual([path, status, ofOther]);
      for (const { headers } of [own, others]) expect(headers.get('cache-control')).toBe('no-store');
    }
    for (const path of [`/v1/pastes/${code}/events`, `/v1/jobs/${jobId}/events`]) {
      const { headers } = await fetch(bed.api.url + path, { method: 'HEAD', headers: owner.headers });
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});

describe('private content', () => {
  it('is left in no cache, with every status', async () => {
    const code = await processedPaste(bed, 'content', { userId: owner.id, visibility: 'private' });
    for (const path of [`/${code}`, `/v1/pastes/${code}/content`]) {
      const read = (headers: Headers) =>
        fetch(bed.api.url + path, { headers: { ...owner.headers, ...headers } });
      const whole = await read({});
      const etag = whole.headers.get('etag')!;
      const answers = [
        whole,
        await read({ range: 'bytes=0-1' }),
        await read({ 'if-none-match': etag }),
        await read({ range: 'bytes=99-' }),
        await read({ 'if-match': '"another"' }),
        await fetch(bed.api.url + path),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 206, 304, 416, 412, 404]);
      for (const { headers } of answers) expect(headers.get('cache-control')).toMatch(/^no-store/);
    }
  });

  it('differs in that from unlisted content, which a browser may keep and must revalidate', async () => {
    const code = await processedPaste(bed, 'content');
    const { headers } = await fetch(`${bed.api.url}/${code}`);
    expect(headers.get('cache-control')).toBe('private, no-cache, no-transform');
  });
});
