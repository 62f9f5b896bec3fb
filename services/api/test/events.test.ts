import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { settleExecutions, uploadSubject } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { readEvents, type EventReader } from './support/event-reader.ts';
import { problemOf } from './support/http.ts';
import { claim, end, newJob, progress } from './support/jobs.ts';
import { claimUpload, newPaste, processedPaste, settle } from './support/pastes.ts';
import { until } from './support/until.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const URL_OF_OBJECT = 's3://pasteflow/x';
const completed = { status: 'completed' as const, result: {}, errorMessage: null };
let user: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
});

const pasteEvents = (code: string, lastEventId?: string, { url } = bed.api) =>
  readEvents(
    `${url}/v1/pastes/${code}/events`,
    lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  );
const jobEvents = (id: string, lastEventId?: string) =>
  readEvents(`${bed.api.url}/v1/jobs/${id}/events`, {
    ...user.headers,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  });

/** An attempt that fails; the next one is due at once. */
async function failAttempt(code: string): Promise<void> {
  const executionId = await claimUpload(bed.db, code);
  await settleExecutions(
    bed.db,
    uploadSubject,
    [
      {
        executionId,
        outcome: { kind: 'failed', error: 'S3 is down' },
        nextStep: { kind: 'retry', attempt: 2, delayMs: 0 },
      },
    ],
    { actor: 'w', dispatched: true },
  );
}

describe('GET /v1/pastes/:short_code/events', () => {
  it('sends each transition once, as in the timeline, then the end, and closes', async () => {
    const code = await newPaste(bed.db);
    const reader = await pasteEvents(code);
    expect(reader.response.headers.get('cache-control')).toBe('no-store');
    expect(reader.response.headers.get('x-accel-buffering')).toBe('no');
    await failAttempt(code);
    await reader.has(2);
    await settle(bed.db, code, URL_OF_OBJECT);
    expect(await reader.over).toBe('ended');
    const words = reader.words();
    expect(words.slice(0, 3)).toEqual(['PENDING→RUNNING', 'RUNNING→FAILED', 'PENDING→RUNNING']);
    // The order of the executions and pastes that one statement changes is undefined.
    expect(words.slice(3, 5).toSorted()).toEqual(['IN_PROGRESS→PROCESSED', 'RUNNING→SUCCEEDED']);
    expect(words.slice(5)).toEqual(['end PROCESSED']);
    const timeline = (await (await fetch(`${bed.api.url}/v1/pastes/${code}/timeline`)).json()) as {
      transitions: object[];
    };
    expect(reader.events.slice(0, -1).map(({ data }) => data)).toEqual(timeline.transitions);
    expect(reader.retries).toEqual([1000]);
  });

  it('begins with the past transitions, and ends at once when nothing will follow', async () => {
    for (const [code, status] of [
      [await processedPaste(bed, 'x'), 'PROCESSED'],
      [await given(), 'FAILED'],
    ] as const) {
      const reader = await pasteEvents(code);
      expect(await reader.over).toBe('ended');
      expect(reader.words()).toHaveLength(4);
      expect(reader.words().at(-1)).toBe(`end ${status}`);
    }
  });

  async function given(): Promise<string> {
    const code = await newPaste(bed.db);
    await settle(bed.db, code, null);
    return code;
  }

  it('continues after Last-Event-ID, from any event, and answers 204 after the end', async () => {
    const code = await newPaste(bed.db);
    await failAttempt(code);
    await settle(bed.db, code, URL_OF_OBJECT);
    const whole = await pasteEvents(code);
    await whole.over;
    expect(whole.events).toHaveLength(6);
    for (const [i, { id }] of whole.events.slice(0, -1).entries()) {
      const rest = await pasteEvents(code, id);
      await rest.over;
      expect(rest.events).toEqual(whole.events.slice(i + 1));
    }
    const last = whole.events.at(-1)!.id;
    expect(last).toMatch(/^\d+\.end$/);
    const response = await fetch(`${bed.api.url}/v1/pastes/${code}/events`, {
      headers: { 'last-event-id': last },
    });
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it.each(['', 'x', '1.2.3', '-1', '1e3', '99999999999999999999', '1.end.end'])(
    'starts from the beginning after an id that was never sent: %p',
    async (id) => {
      const reader = await pasteEvents(await processedPaste(bed, 'x'), id);
      await reader.over;
      expect(reader.events).toHaveLength(4);
    },
  );

  it('informs every listener, each from its own position', async () => {
    const code = await newPaste(bed.db);
    const early = await pasteEvents(code);
    await failAttempt(code);
    await early.has(2);
    const late = await pasteEvents(code);
    const resumed = await pasteEvents(code, early.events[0]!.id);
    await settle(bed.db, code, URL_OF_OBJECT);
    await Promise.all([early.over, late.over, resumed.over]);
    expect(late.events).toEqual(early.events);
    expect(resumed.events).toEqual(early.events.slice(1));
  });

  it('ends when the paste is deleted, and when it expires', async () => {
    const api = await bed.start({ live: { heartbeatMs: 20 } });
    const [deleted, expiring] = [await newPaste(bed.db), await newPaste(bed.db)];
    const readers = [await pasteEvents(deleted, undefined, api), await pasteEvents(expiring, undefined, api)];
    await fetch(`${api.url}/v1/pastes/${deleted}`, {
      method: 'DELETE',
      headers: { 'delete-token': 'the token' },
    });
    expect(await readers[0]!.over).toBe('ended');
    expect(readers[0]!.words()).toEqual(['end null']);
    await sql`UPDATE pastes SET expires_at = now() + interval '1 second' WHERE short_code = ${expiring}`.execute(
      bed.db,
    );
    expect(await readers[1]!.over).toBe('ended');
    expect(readers[1]!.words()).toEqual(['end null']);
    expect((await fetch(`${api.url}/v1/pastes/${expiring}/events`)).status).toBe(410);
  });

  it('keeps the connection open with comments', async () => {
    const api = await bed.start({ live: { heartbeatMs: 10 } });
    const reader = await pasteEvents(await newPaste(bed.db), undefined, api);
    await until(() => reader.beats > 3);
    expect(reader.events).toEqual([]);
    await reader.leave();
  });

  it('answers HEAD, and refuses what a read of the paste refuses', async () => {
    const url = `${bed.api.url}/v1/pastes/${await newPaste(bed.db)}/events`;
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const secret = await newPaste(bed.db, 'x', { userId: user.id, visibility: 'private' });
    for (const code of [secret, 'neverThere', '!']) {
      const response = await fetch(`${bed.api.url}/v1/pastes/${code}/events`);
      expect(await problemOf(response)).toMatchObject({ status: 404, code: 'paste_not_found' });
    }
  });
});

describe('GET /v1/jobs/:id/events', () => {
  it('sends transitions and progress, when the number or the message changes', async () => {
    const jobId = await newJob(bed.db, user);
    const reader = await jobEvents(jobId);
    const executionId = await claim(bed.db, jobId);
    await reader.has(2);
    for (const [i, [percent, message]] of (
      [
        [10, null],
        [10, 'one'],
        [40, 'two'],
      ] as const
    ).entries()) {
      await progress(bed.db, { jobId, executionId }, percent, message);
      await reader.has(3 + i);
    }
    await end(bed.db, executionId, completed);
    expect(await reader.over).toBe('ended');
    const words = reader.words();
    expect(words.slice(2, 5)).toEqual(['10 %', '10 % one', '40 % two']);
    expect(words.slice(0, 2).toSorted()).toEqual(['PENDING→RUNNING', 'queued→processing']);
    expect(words.slice(5, 7).toSorted()).toEqual(['RUNNING→SUCCEEDED', 'processing→completed']);
    expect(words.slice(7)).toEqual(['100 % two', 'end completed']);
    expect(new Set(reader.events.map(({ id }) => id)).size).toBe(reader.events.length);
  });

  it('sends nothing twice to a client that reconnects, wherever the stream broke', async () => {
    const jobId = await newJob(bed.db, user);
    const executionId = await claim(bed.db, jobId);
    await progress(bed.db, { jobId, executionId }, 40, 'two');
    const first = await jobEvents(jobId);
    await first.has(3);
    await first.leave();
    const [, second, third] = first.events;
    const back = await jobEvents(jobId, third!.id);
    const before = await jobEvents(jobId, second!.id);
    await before.has(1);
    expect(before.events).toEqual([third]);
    await end(bed.db, executionId, completed);
    await Promise.all([back.over, before.over]);
    expect(back.words().slice(-2)).toEqual(['100 % two', 'end completed']);
    expect(back.events).toHaveLength(4);
    expect(before.events.slice(1)).toEqual(back.events);
    // This progress came before a transition that the client has.
    const rest = await jobEvents(jobId, back.events[1]!.id);
    await rest.over;
    expect(rest.words()).toEqual(['100 % two', 'end completed']);
  });
});

describe('a client that does not read', () => {
  it('is disconnected, and uses no memory meanwhile', async () => {
    const api = await bed.start({ live: { heartbeatMs: 100 } });
    const jobId = await newJob(bed.db, user);
    const executionId = await claim(bed.db, jobId);
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `GET /v1/jobs/${jobId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: ${user.headers.authorization}\r\n\r\n`,
    );
    socket.pause();
    let isCut = false;
    socket.on('error', () => {}).on('close', () => (isCut = true));
    // More than the kernel buffers: 20,000 transitions with long reasons.
    await sql`
      INSERT INTO state_transitions (machine, entity, "from", "to", actor, reason)
      SELECT 'task_execution', ${executionId}::uuid, 'PENDING', 'RUNNING', 'w', repeat('x', 1000) FROM generate_series(1, 20000)`.execute(
      bed.db,
    );
    await progress(bed.db, { jobId, executionId }, 50);
    const cut = () => api.logs.some((line) => line.job_id === jobId && line.aborted === true);
    await until(cut);
    const line = api.logs.find((each) => each.job_id === jobId);
    expect(line).toMatchObject({ status: 200 });
    socket.resume();
    await until(() => isCut);
    expect(socket.bytesRead).toBeLessThan(20_000 * 1000);
  });

  it('gets every event when it reads slowly', async () => {
    const jobId = await newJob(bed.db, user);
    const executionId = await claim(bed.db, jobId);
    await sql`
      INSERT INTO state_transitions (machine, entity, "from", "to", actor, reason)
      SELECT 'task_execution', ${executionId}::uuid, 'PENDING', 'RUNNING', 'w', repeat('x', 1000) FROM generate_series(1, 5000)`.execute(
      bed.db,
    );
    const reader = await jobEvents(jobId);
    await end(bed.db, executionId, completed);
    await reader.over;
    const ids = reader.events.map(({ id }) => Number(id.split('.')[0]));
    expect(reader.events).toHaveLength(2 + 5000 + 2 + 1 + 1);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  });
});

describe('stopping the api', () => {
  it('ends its streams at once with a time to reconnect, and accepts no new ones', async () => {
    const api = await bed.start({ stopDeadlineMs: 60_000, stopNoticeMs: 1 });
    const code = await newPaste(bed.db);
    const reader: EventReader = await pasteEvents(code, undefined, api);
    await api.stop();
    expect(await reader.over).toBe('ended');
    expect(reader.events).toEqual([]);
    expect(reader.retries[1]).toBeGreaterThanOrEqual(1000);
    await settle(bed.db, code, URL_OF_OBJECT);
    const elsewhere = await pasteEvents(code);
    await elsewhere.over;
    expect(elsewhere.words().at(-1)).toBe('end PROCESSED');
  });
});
