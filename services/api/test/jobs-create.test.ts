import { beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { jobTypes } from '@pasteflow/jobs';
import { MAX_JOB_BYTES } from '../src/jobs/new-job.ts';
import { useApi } from './support/api.ts';
import { dial, parseAnswer, problemOf } from './support/http.ts';
import { until } from './support/until.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const EXPORT = { job_type: 'export', parameters: {} };
let user: TestUser;

beforeEach(async () => {
  user = await newUser(bed.db);
});

function post(
  body: unknown,
  { url = bed.api.url, headers = {} }: { url?: string; headers?: Record<string, string> } = {},
) {
  return fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...user.headers, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function accepted(response: Response): Promise<string> {
  const body = (await response.json()) as { job_id: string };
  expect({ status: response.status, body }).toMatchObject({ status: 202 });
  return body.job_id;
}

const jobRow = (id: string) =>
  bed.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const executionsOf = (id: string) =>
  bed.db.selectFrom('task_executions').selectAll().where('subject_id', '=', id).execute();

async function countJobs(): Promise<number> {
  const { count } = await bed.db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

describe('creating a job', () => {
  it('keeps the title, which lists show', async () => {
    const id = await accepted(await post({ ...EXPORT, title: 'notes <of> 2026.zip' }));
    expect((await jobRow(id)).title).toBe('notes <of> 2026.zip');
    const list = await (await fetch(`${bed.api.url}/v1/jobs?limit=1`, { headers: user.headers })).json();
    expect(list).toMatchObject({ jobs: [{ id, title: 'notes <of> 2026.zip' }] });
    for (const title of [1, 'x'.repeat(256), '\0'])
      expect((await problemOf(await post({ ...EXPORT, title }))).status).toBeGreaterThanOrEqual(400);
  });

  it('answers 202 with the id, the URL and the state, when the job and its first execution are committed', async () => {
    const response = await post(EXPORT);
    const body = (await response.json()) as { job_id: string };
    expect([response.status, body]).toEqual([
      202,
      {
        job_id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/),
        status: 'queued',
      },
    ]);
    expect(response.headers.get('location')).toBe(`${bed.api.url}/v1/jobs/${body.job_id}`);
    expect(await jobRow(body.job_id)).toMatchObject({
      user_id: user.id,
      job_type: 'export',
      status: 'queued',
      progress: 0,
      result: null,
      completed_at: null,
    });
    expect(await executionsOf(body.job_id)).toMatchObject([{ kind: 'job', attempt: 1, status: 'PENDING' }]);
  });

  it.each([...jobTypes.values()])('accepts the example of the type $name', async ({ name, example }) => {
    const { job_type } = await jobRow(await accepted(await post({ job_type: name, parameters: example })));
    expect(job_type).toBe(name);
  });

  it('runs two statements, including the token’s', async () => {
    await accepted(await post(EXPORT)); // records the use of the token
    const before = bed.api.statements.length;
    await accepted(await post(EXPORT));
    const sent = bed.api.statements.slice(before).filter((sql) => !sql.includes('SET dispatched_at'));
    expect(sent.map((sql) => sql.includes('INSERT INTO jobs'))).toEqual([false, true]);
  });

  it('sends a message after the commit, with the request id, and stamps the execution', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_SQS: proxy.url } });
    const id = await accepted(
      await post(EXPORT, { url: api.url, headers: { 'x-request-id': 'job-request' } }),
    );
    const sent = await until(
      () => proxy.matching({ target: 'SendMessageBatch' })[0],
      (request) => request?.body !== undefined,
    );
    const message = JSON.parse(sent!.body!.toString()) as {
      QueueUrl: string;
      Entries: { MessageBody: string; MessageAttributes: Record<string, { StringValue: string }> }[];
    };
    expect(message.QueueUrl).toMatch(/pasteflow-jobs$/);
    expect(message.Entries.map(({ MessageBody }) => JSON.parse(MessageBody) as unknown)).toEqual([
      { jobId: id },
    ]);
    expect(message.Entries[0]!.MessageAttributes.requestId!.StringValue).toBe('job-request');
    await until(
      () => executionsOf(id),
      ([execution]) => execution?.dispatched_at !== null,
    );
    await until(() => api.logs.find((line) => line.message === 'request' && line.job_id === id));
    await proxy.stop();
  });

  it('answers 202 while SQS is unavailable: the relay sends the message', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_SQS: proxy.url } });
    await proxy.down();
    const id = await accepted(await post(EXPORT, { url: api.url }));
    await until(() => api.logs.find(({ message }) => message === 'messages left to the relay'));
    expect(await executionsOf(id)).toMatchObject([{ status: 'PENDING', dispatched_at: null }]);
    await proxy.stop();
  });

  it('creates one job for many requests with one Idempotency-Key, and sends one message', async () => {
    const before = await countJobs();
    const headers = { 'idempotency-key': 'the same' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(EXPORT, { headers })));
    const ids = new Set<string>();
    for (const answer of answers) {
      if (answer.status === 409)
        expect(await problemOf(answer)).toMatchObject({ code: 'idempotency_key_in_use' });
      else ids.add(await accepted(answer));
    }
    expect(ids.size).toBe(1);
    const again = await post(EXPORT, { headers });
    expect([again.headers.get('location'), await accepted(again)]).toEqual([
      `${bed.api.url}/v1/jobs/${[...ids][0]!}`,
      [...ids][0],
    ]);
    expect(await countJobs()).toBe(before + 1);
    expect(await executionsOf([...ids][0]!)).toHaveLength(1);
    const other = await problemOf(
      await post({ job_type: 'import', parameters: jobTypes.get('import')!.example }, { headers }),
    );
    expect(other).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });
});

describe('a job that is refused', () => {
  it.each<[string, unknown, string[]]>([
    ['no object', [], ['']],
    ['nothing in it', {}, ['job_type']],
    ['an unknown type', { ...EXPORT, job_type: 'toString' }, ['job_type']],
    ['a type that is no text', { ...EXPORT, job_type: ['export'] }, ['job_type']],
    ['no parameters', { job_type: 'export' }, ['parameters']],
    ['parameters that are no object', { job_type: 'export', parameters: 'x' }, ['parameters']],
    ['parameters that are a list', { job_type: 'export', parameters: [] }, ['parameters']],
    ['an unknown field', { ...EXPORT, priority: 1 }, ['priority']],
    ['an import of nothing', { job_type: 'import', parameters: {} }, ['parameters.items']],
    ['items that are no list', { job_type: 'import', parameters: { items: 'x' } }, ['parameters.items']],
    ['an empty list of items', { job_type: 'import', parameters: { items: [] } }, ['parameters.items']],
    [
      'more items than there may be',
      { job_type: 'import', parameters: { items: Array(1001).fill({ content: 'x' }) } },
      ['parameters.items'],
    ],
    [
      'an item that is no object',
      { job_type: 'import', parameters: { items: [{}, 1] } },
      ['parameters.items.1'],
    ],
    [
      'an item with a NUL',
      { job_type: 'import', parameters: { items: [{ content: 'a' }, { content: 'b\0' }] } },
      ['parameters.items.1.content'],
    ],
    ['a status that is none', { job_type: 'export', parameters: { status: 'x' } }, ['parameters.status']],
    [
      'two mistakes',
      { job_type: 'export', parameters: { format: 'rar', created_after: 'yesterday' } },
      ['parameters.format', 'parameters.created_after'],
    ],
    ['an unknown parameter', { job_type: 'export', parameters: { colour: 'red' } }, ['parameters.colour']],
    ['a NUL', '{"job_type":"export","parameters":{"status":"a\\u0000"}}', ['parameters.status']],
    ['a NUL in a name', '{"job_type":"export","parameters":{"\\u0000":1}}', ['parameters.\0']],
    ['half a character', '{"job_type":"export","parameters":{"status":"\\ud800"}}', ['parameters.status']],
    ['a number beyond all numbers', '{"job_type":"export","parameters":{"x":1e400}}', ['parameters.x']],
    [
      'a name of the language',
      '{"job_type":"export","parameters":{"__proto__":{"a":1}}}',
      ['parameters.__proto__'],
    ],
    [
      'levels without end',
      `{"job_type":"export","parameters":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      [''],
    ],
    ['values without end', `{"job_type":"import","parameters":{"items":[${'{},'.repeat(200_000)}{}]}}`, ['']],
  ])('is answered 422 with the paths of the errors: %s', async (_name, body, paths) => {
    const problem = await problemOf(await post(body));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(problem.errors!.map(({ path }) => path)).toEqual(paths);
  });

  it.each(['', '{', 'job_type=export', '{"job_type":"export","parameters":{}}}'])(
    'is answered 400 when it is not JSON: %s',
    async (body) => {
      expect(await problemOf(await post(body))).toMatchObject({ status: 400, code: 'malformed_request' });
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
  ])('is answered 415 as %s', async (type) => {
    const problem = await problemOf(await post(EXPORT, { headers: { 'content-type': type } }));
    expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  it('is answered 413 above the limit, also before its body is sent', async () => {
    const body = `{"job_type":"export","parameters":{"a":"${'x'.repeat(MAX_JOB_BYTES)}"}}`;
    expect(await problemOf(await post(body))).toMatchObject({ status: 413, code: 'content_too_large' });
    const socket = await dial(bed.api.port);
    const head = `POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${MAX_JOB_BYTES + 1}\r\nExpect: 100-continue\r\n\r\n`);
    const answer = parseAnswer(
      await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    );
    expect(answer.status).toBe(413);
    socket.destroy();
  });

  it('is answered 422 for a parameter in the query', async () => {
    const response = await fetch(`${bed.api.url}/v1/jobs?job_type=export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...user.headers },
      body: JSON.stringify(EXPORT),
    });
    expect((await problemOf(response)).errors).toMatchObject([{ path: 'job_type' }]);
  });

  it('is answered 401 without a token, before its body is read', async () => {
    for (const body of [JSON.stringify(EXPORT), 'nonsense']) {
      const response = await fetch(`${bed.api.url}/v1/jobs`, { method: 'POST', body });
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
    }
  });

  it('has left nothing behind', async () => {
    const before = await countJobs();
    for (const body of ['{', { ...EXPORT, x: 1 }, '{"job_type":"export","parameters":{"status":"\\u0000"}}'])
      await post(body);
    expect(await countJobs()).toBe(before);
    expect(bed.api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
