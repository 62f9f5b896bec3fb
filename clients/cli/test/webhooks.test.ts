import { describe, expect, it } from '@jest/globals';
import { json, problem, reset, useBed, type Handler } from './support/bed.ts';
import { env, route } from './support/jobs.ts';

const bed = useBed();

const ID = '019aa5b2-7c00-7d1f-8a3e-4b5c6d7e8f90';
const DELIVERY = '019aa5b2-8e00-7a2b-9c4d-5e6f708192a3';
const URL = 'https://hooks.example.com/a?key=hunter2';

const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

const webhookWith = (fields: object = {}) => ({
  id: ID,
  url: URL,
  events: ['paste.stored', 'job.ended'],
  status: 'on',
  switched_off_for: null,
  switched_off_at: null,
  failing_since: null,
  created_at: '2026-11-22T12:00:00.000Z',
  rotated_at: null,
  ...fields,
});

const signing = webhookWith({ secret: 'whsec_AAAA' });

const deliveryWith = (fields: object = {}) => ({
  id: DELIVERY,
  event_id: ID,
  type: 'paste.stored',
  data: { short_code: 'q7Zk2Lm9Xa' },
  happened_at: ago(2.1),
  status: 'DELIVERED',
  attempts: 1,
  next_attempt_at: null,
  answered: 204,
  reason: null,
  retry_of: null,
  created_at: ago(2.1),
  ended_at: ago(2),
  ...fields,
});

const sent = () => JSON.parse(bed.requests.at(-1)!.body.toString()) as object;
const linesOf = (text: string) => text.trimEnd().split('\n');

describe('pasteflow webhooks', () => {
  it('lists webhooks with their state, and writes no control characters of an address', async () => {
    const webhooks = [
      webhookWith({ url: `${URL}\u202e` }),
      webhookWith({ failing_since: ago(5.1) }),
      ...['gone', 'failing', 'operator'].map((switched_off_for) =>
        webhookWith({ status: 'off', switched_off_for, switched_off_at: ago(49), failing_since: ago(99) }),
      ),
    ];
    bed.script(json(200, { webhooks }));
    const { code, stdout, stderr } = await bed.run(['webhooks'], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(linesOf(stdout).map((line) => line.split(/ {2,}/))).toEqual([
      [ID, 'on', 'paste.stored job.ended', `${URL}\\u{202e}`],
      [ID, 'on, began to fail 5 hours ago', 'paste.stored job.ended', URL],
      [ID, 'switched off 2 days ago: it answered 410', 'paste.stored job.ended', URL],
      [ID, 'switched off 2 days ago: it failed for three days', 'paste.stored job.ended', URL],
      [ID, 'switched off 2 days ago: an operator did it', 'paste.stored job.ended', URL],
    ]);
    const asJson = linesOf((await bed.run(['webhooks', 'list', '--json'], { env })).stdout);
    expect(asJson.map((line) => JSON.parse(line) as unknown)).toEqual(webhooks);
  });

  it('prints nothing when there are none', async () => {
    bed.script(json(200, { webhooks: [] }));
    expect(await bed.run(['webhooks'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each([
    [
      ['webhooks', 'delivery', ID],
      "error: unknown command 'delivery'. To see the commands: pasteflow webhooks --help\n",
    ],
    [['webhooks', 'list', 'every'], "too many arguments for 'list'"],
    [['webhooks', '--every'], "unknown option '--every'"],
    [['webhooks', 'add', URL], "missing required argument 'events'"],
    [['webhooks', 'add', URL, 'paste.stored', 'upload.failed'], 'Allowed choices are paste.stored,'],
    [['webhooks', 'remove'], "missing required argument 'webhook'"],
    [['webhooks', 'remove', ''], 'is not the id of a webhook. To see the ids: pasteflow webhooks\n'],
    [['webhooks', 'rotate', '../tokens'], 'is not the id of a webhook'],
    [['webhooks', 'deliveries', ID, '-n', 'many'], '--limit takes a number'],
    [
      ['webhooks', 'resend', ID, 'q7Zk2Lm9Xa'],
      `is not the id of a delivery. To see the ids: pasteflow webhooks deliveries ${ID}\n`,
    ],
  ])('refuses %j with 2, and sends nothing', async (args, message) => {
    const { code, stdout, stderr } = await bed.run(args, { env });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(bed.requests).toEqual([]);
  });

  it.each([
    [['webhooks']],
    [['webhooks', 'add', '-', 'paste.stored']],
    [['webhooks', 'remove', ID]],
    [['webhooks', 'rotate', ID]],
    [['webhooks', 'on', ID]],
    [['webhooks', 'deliveries', ID]],
    [['webhooks', 'resend', ID, DELIVERY]],
  ])('needs a token for %j', async (args) => {
    const { code, stdout, stderr } = await bed.run(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('pasteflow login')]);
    expect(bed.requests).toEqual([]);
  });
});

describe('pasteflow webhooks add', () => {
  it('prints the secret alone on stdout, and says once that it is not shown again', async () => {
    route(bed, { 'POST /v1/webhooks': json(201, signing) });
    const adding = ['webhooks', 'add', URL, 'paste.stored', 'job.ended', 'paste.stored'];
    const { code, stdout, stderr } = await bed.run(adding, { env });
    expect([code, stdout]).toEqual([0, 'whsec_AAAA\n']);
    expect(stderr).toBe(`This is the secret of the webhook ${ID}. It is not shown again.\n`);
    expect(sent()).toEqual({ url: URL, events: ['paste.stored', 'job.ended'] });
    expect(JSON.parse((await bed.run([...adding, '--json'], { env })).stdout)).toEqual(signing);
  });

  it('takes the address from stdin, or from a person, who sees nothing of it', async () => {
    route(bed, { 'POST /v1/webhooks': json(201, signing) });
    for (const stdin of [`${URL}\n`, [`${URL}\n`]]) {
      const { code, stderr } = await bed.run(['webhooks', 'add', '-', 'paste.read'], { env, stdin });
      expect([code, sent()]).toEqual([0, { url: URL, events: ['paste.read'] }]);
      expect(stderr).not.toContain('hunter2');
    }
  });

  it('repeats what was lost with the same key, and not what the server refuses', async () => {
    bed.script(reset, json(201, signing));
    expect((await bed.run(['webhooks', 'add', URL, 'paste.read'], { env })).code).toBe(0);
    const keys = bed.requests.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size, typeof keys[0]]).toEqual([2, 1, 'string']);
    bed.script(problem(429, 'webhook_limit_reached', 'You have 10 webhooks. Remove one.'));
    expect(await bed.run(['webhooks', 'add', URL, 'paste.read'], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'pasteflow: You have 10 webhooks. Remove one.\n',
    });
    expect(bed.requests).toHaveLength(3);
  });
});

describe('pasteflow webhooks rotate, on and remove', () => {
  it('rotate prints the new secret, and sends a key, since two rotations would end the old secret', async () => {
    const path = `/v1/webhooks/${ID}/rotate`;
    bed.script(reset, json(200, signing));
    const { code, stdout, stderr } = await bed.run(['webhooks', 'rotate', ID.toUpperCase()], { env });
    expect([code, stdout, stderr]).toEqual([0, 'whsec_AAAA\n', expect.stringContaining('For a day')]);
    expect(bed.requests.map((each) => `${each.method} ${each.path}`)).toEqual([
      `POST ${path}`,
      `POST ${path}`,
    ]);
    const keys = bed.requests.map(({ headers }) => headers['idempotency-key']);
    expect([new Set(keys).size, typeof keys[0]]).toEqual([1, 'string']);
  });

  it('on prints the state', async () => {
    route(bed, { [`POST /v1/webhooks/${ID}/switch-on`]: json(200, webhookWith()) });
    expect(await bed.run(['webhooks', 'on', ID], { env })).toEqual({ code: 0, stdout: 'on\n', stderr: '' });
  });

  it('on says what the server says when an operator has switched it off', async () => {
    bed.script(problem(409, 'webhook_switched_off', 'An operator has switched this webhook off.'));
    const { code, stdout, stderr } = await bed.run(['webhooks', 'on', ID], { env });
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'pasteflow: An operator has switched this webhook off.\n',
    ]);
  });

  it('remove prints nothing, or its id as JSON', async () => {
    const gone: Handler = (_request, res) => void res.writeHead(204).end();
    route(bed, { [`DELETE /v1/webhooks/${ID}`]: gone });
    expect(await bed.run(['webhooks', 'remove', ID], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
    const { stdout } = await bed.run(['--json', 'webhooks', 'remove', ID], { env });
    expect(JSON.parse(stdout)).toEqual({ id: ID, removed: true });
  });
});

describe('pasteflow webhooks deliveries', () => {
  const failed = { class: 'endpoint_failed', text: 'answered 503' };
  it.each([
    [{}, 'DELIVERED', 'answered 204'],
    [{ status: 'WAITING', answered: null, next_attempt_at: ago(1) }, 'WAITING', 'attempt 1 is due'],
    [
      { status: 'WAITING', answered: null, attempts: 2, next_attempt_at: ago(-0.01) },
      'WAITING',
      'attempt 2 within a minute',
    ],
    [{ status: 'WAITING', answered: null }, 'WAITING', 'attempt 1 runs'],
    [
      { status: 'WAITING', answered: 503, attempts: 4, next_attempt_at: ago(-5), reason: failed },
      'WAITING',
      'attempt 4 in 5 hours; the one before: answered 503',
    ],
    [{ status: 'FAILED', answered: 503, attempts: 8, reason: failed }, 'FAILED', '8 attempts: answered 503'],
    [
      { status: 'FAILED', answered: null, reason: { class: 'endpoint_off', text: null } },
      'FAILED',
      '1 attempt: endpoint off',
    ],
    [
      { status: 'FAILED', reason: { class: 'endpoint_failed', text: 'bad\u001b[2J' } },
      'FAILED',
      '1 attempt: bad\\u{1b}[2J',
    ],
  ])('says how it is with %j', async (fields, status, outcome) => {
    route(bed, {
      [`GET /v1/webhooks/${ID}/deliveries`]: json(200, {
        deliveries: [deliveryWith(fields)],
        next_cursor: null,
      }),
    });
    const { code, stdout, stderr } = await bed.run(['webhooks', 'deliveries', ID], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trimEnd().split('  ')).toEqual([
      DELIVERY,
      status,
      'paste.stored',
      'q7Zk2Lm9Xa',
      '2 hours ago',
      outcome,
    ]);
  });

  it('names the job or the request that an event is about', async () => {
    const deliveries = [{ job_id: ID }, { request_id: '3mVxQ9bTr5LkW2hYc8NfZd' }].map((data) =>
      deliveryWith({ data }),
    );
    bed.script(json(200, { deliveries, next_cursor: null }));
    const { stdout } = await bed.run(['webhooks', 'deliveries', ID], { env });
    expect(linesOf(stdout).map((line) => line.split(/ {2,}/)[3])).toEqual([ID, '3mVxQ9bTr5LkW2hYc8NfZd']);
  });

  it('lists twenty, or as many as --limit asks for, and says when there are more', async () => {
    bed.script((request, res) => {
      const query = new globalThis.URL(request.path, bed.url).searchParams;
      const from = Number(query.get('cursor') ?? 0);
      const end = Math.min(from + Number(query.get('limit')), 150);
      const deliveries = Array.from({ length: end - from }, () => deliveryWith());
      return json(200, { deliveries, next_cursor: end < 150 ? String(end) : null })(request, res);
    });
    const listing = async (...more: string[]) => {
      const { stdout, stderr } = await bed.run(['webhooks', 'deliveries', ID, ...more], { env });
      return [linesOf(stdout).length, stderr];
    };
    const more = `Listed: the first 20. For more: pasteflow webhooks deliveries ${ID} -n 100\n`;
    expect(await listing()).toEqual([20, more]);
    expect(await listing('-n', '1000')).toEqual([150, '']);
    expect(await listing('--json', '--limit', '120')).toEqual([120, expect.stringContaining('first 120')]);
  });
});

describe('pasteflow webhooks resend', () => {
  it('prints the id of the new delivery, and repeats what was lost with the same key', async () => {
    const again = '019aa5b2-9f00-7c3d-8e5f-60718293a4b5';
    bed.script(reset, json(202, { id: again }));
    expect(await bed.run(['webhooks', 'resend', ID, DELIVERY], { env })).toEqual({
      code: 0,
      stdout: `${again}\n`,
      stderr: '',
    });
    const path = `/v1/webhooks/${ID}/deliveries/${DELIVERY}/retry`;
    expect(bed.requests.map((each) => each.path)).toEqual([path, path]);
    const keys = bed.requests.map(({ headers }) => headers['idempotency-key']);
    expect([new Set(keys).size, typeof keys[0]]).toEqual([1, 'string']);
  });
});
