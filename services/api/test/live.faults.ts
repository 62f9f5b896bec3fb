import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startTestStack, TcpProxy } from '@pasteflow/dev-stack/testing';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { createDatabase, jobSubject, settleExecutions } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { createLogger, Metrics } from '@pasteflow/runtime';
import { sql } from 'kysely';
import type { Watcher } from '../src/live/change-poller.ts';
import { composeLive } from '../src/live/live.ts';
import { useApiOn, type RunningApi } from './support/api.ts';
import { readEvents } from './support/event-reader.ts';
import { follow, type Follower } from './support/follower.ts';
import { claim, end, newJob, progress } from './support/jobs.ts';
import { newPaste, settle } from './support/pastes.ts';
import { until, waiting } from './support/until.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApiOn(() => startTestStack());
let user: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
});

const eventsOf = ({ url }: { url: string }, jobId: string): string => `${url}/v1/jobs/${jobId}/events`;

/**
 * Interrupts attempts one after the other, each with its progress; repeats what Postgres refuses meanwhile.
 */
async function work(jobId: string, attempts: number, begin: number): Promise<void> {
  for (let n = 0; n < attempts; n += 1) {
    const executionId = await again(() => claim(bed.db, jobId));
    await again(() => progress(bed.db, { jobId, executionId }, begin + n));
    await again(() =>
      settleExecutions(
        bed.db,
        jobSubject,
        [
          {
            executionId,
            outcome: { kind: 'interrupted' },
            nextStep: { kind: 'retry', attempt: 1, delayMs: 0 },
            ending: null,
          },
        ],
        { actor: 'upload-worker/test', dispatched: true },
      ),
    );
  }
}

async function again<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof DependencyUnavailableError)) throw error;
      await sleep(20);
    }
  }
}

async function finish(jobId: string): Promise<void> {
  await end(bed.db, await claim(bed.db, jobId), { status: 'completed', result: {}, errorMessage: null });
}

/** Expects all events, each once and in order, and a progress that only grows. */
async function expectWhole({ events }: Pick<Follower, 'events'>, jobId: string): Promise<void> {
  const response = await fetch(`${bed.api.url}/v1/jobs/${jobId}/timeline`, { headers: user.headers });
  const { transitions } = (await response.json()) as { transitions: object[] };
  const told = events.filter(({ event }) => event === 'transition');
  expect(told.map(({ data }) => data)).toEqual(transitions);
  const ids = events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const progresses = events
    .filter(({ event }) => event === 'progress')
    .map(({ data }) => Number(data.progress));
  expect(progresses).toEqual([...new Set(progresses)].toSorted((a, b) => a - b));
  expect(progresses.at(-1)).toBe(100);
  expect(events.at(-1)).toMatchObject({ event: 'end', data: { status: 'completed' } });
}

/** Ends all connections of the apis of this file. */
const endConnections = () =>
  sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'api/test'`.execute(
    bed.db,
  );

const readsFail = async ({ metricsUrl }: RunningApi): Promise<boolean> =>
  /^live_reads_total\{outcome="failed"[^}]*\} [1-9]/m.test(
    await (await fetch(`${metricsUrl}/metrics`)).text(),
  );

function waits(api: RunningApi, code: string): Promise<Response> {
  return fetch(`${api.url}/v1/pastes/${code}`, { headers: { prefer: 'wait=60' } });
}

describe('no event is missing and none is repeated', () => {
  it('when the connections of the api are ended again and again', async () => {
    const jobId = await newJob(bed.db, user);
    const follower = follow([eventsOf(bed.api, jobId)], user.headers);
    await waiting(bed.api, 1, 'events');
    const working = work(jobId, 20, 1);
    let isDone = false;
    void working.finally(() => (isDone = true));
    while (!isDone) await endConnections();
    await working;
    await finish(jobId);
    await follower.done;
    expect(follower.connections).toBe(1); // clients do not notice
    await expectWhole(follower, jobId);
    expect(bed.api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('when Postgres is unreachable for a while', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const [jobId, code] = [await newJob(bed.db, user), await newPaste(bed.db)];
    const follower = follow([eventsOf(api, jobId)], user.headers);
    const answer = waits(api, code);
    await waiting(api, 1);
    await waiting(api, 1, 'events');
    await work(jobId, 5, 1);
    await proxy.down();
    await work(jobId, 5, 11);
    await settle(bed.db, code, 's3://pasteflow/x');
    await until(() => readsFail(api));
    await proxy.up();
    await work(jobId, 5, 21);
    await finish(jobId);
    await follower.done;
    await expectWhole(follower, jobId);
    expect([(await answer).status, await (await answer).json()]).toMatchObject([
      200,
      { status: 'PROCESSED' },
    ]);
    await api.stop();
    await proxy.stop();
  });

  it('when Postgres is restarted', async () => {
    const [jobId, code] = [await newJob(bed.db, user), await newPaste(bed.db)];
    const follower = follow([eventsOf(bed.api, jobId)], user.headers);
    const answer = waits(bed.api, code);
    await waiting(bed.api, 1);
    await waiting(bed.api, 1, 'events');
    await work(jobId, 3, 1);
    const working = work(jobId, 10, 11);
    await bed.stack.restartPostgres();
    await working;
    await again(() => settle(bed.db, code, 's3://pasteflow/x'));
    await again(() => finish(jobId));
    await follower.done;
    await expectWhole(follower, jobId);
    expect([(await answer).status, await (await answer).json()]).toMatchObject([
      200,
      { status: 'PROCESSED' },
    ]);
  });

  it('when a client changes from one copy of the api to another, again and again', async () => {
    const copies = [bed.api, await bed.start(), await bed.start()];
    const jobId = await newJob(bed.db, user);
    const urls = copies.map((api) => eventsOf(api, jobId));
    const [one, two] = [
      follow(urls, user.headers, { leaveAfter: 1 }),
      follow(urls, user.headers, { leaveAfter: 2 }),
    ];
    await work(jobId, 10, 1);
    await finish(jobId);
    for (const each of [one, two]) {
      await each.done;
      await expectWhole(each, jobId);
    }
    expect(one.connections).toBeGreaterThan(20);
  });

  it('without a fault: a client that stays gets each progress that is not superseded, on any copy', async () => {
    const copies = [bed.api, await bed.start()];
    const jobId = await newJob(bed.db, user);
    const steady = await Promise.all(copies.map((api) => readEvents(eventsOf(api, jobId), user.headers)));
    const executionId = await claim(bed.db, jobId);
    const told = ['queued→processing', 'PENDING→RUNNING'];
    for (const [percent, message, word] of [
      [5, null, '5 %'],
      [6, 'half', '6 % half'],
      [7, 'other half', '7 % other half'],
      [40, null, '40 % other half'],
      [41, null, '41 % other half'],
      [99, 'nearly', '99 % nearly'],
    ] as const) {
      await progress(bed.db, { jobId, executionId }, percent, message);
      told.push(word);
      for (const each of steady) await each.has(told.length);
    }
    await end(bed.db, executionId, { status: 'completed', result: {}, errorMessage: null });
    for (const each of steady) {
      expect(await each.over).toBe('ended');
      const words = each.words();
      expect(words.slice(0, 2).toSorted()).toEqual(told.slice(0, 2).toSorted());
      expect(words.slice(2, told.length)).toEqual(told.slice(2));
      expect(words.slice(told.length).toSorted()).toEqual(
        ['100 % nearly', 'RUNNING→SUCCEEDED', 'end completed', 'processing→completed'].toSorted(),
      );
      expect(words.at(-1)).toBe('end completed');
      await expectWhole(each, jobId);
    }
  });

  it('when a copy stops: its clients continue at another', async () => {
    const stopping = await bed.start();
    const jobId = await newJob(bed.db, user);
    const follower = follow([eventsOf(stopping, jobId), eventsOf(bed.api, jobId)], user.headers);
    await work(jobId, 3, 1);
    await waiting(stopping, 1, 'events');
    const working = work(jobId, 10, 11);
    await stopping.stop();
    await working;
    await finish(jobId);
    await follower.done;
    await expectWhole(follower, jobId);
  });
});

it('when one copy waits and another makes the change', async () => {
  const other = await bed.start();
  const code = await newPaste(bed.db);
  const answers = [waits(bed.api, code), waits(other, code)];
  await Promise.all([waiting(bed.api, 1), waiting(other, 1)]);
  await fetch(`${other.url}/v1/pastes/${code}`, {
    method: 'DELETE',
    headers: { 'delete-token': 'the token' },
  });
  for (const answer of answers) expect((await answer).status).toBe(410);
});

it('reads all that clients wait for with one statement', async () => {
  const reads: (readonly unknown[])[] = [];
  const db = createDatabase({
    url: bed.databaseUrl,
    applicationName: 'test reads',
    maxConnections: 1,
    onConnectionError: () => {},
    onStatement: ({ query: { parameters } }) => reads.push(parameters),
  });
  const { poller } = composeLive({
    db,
    maxWaiters: 10,
    places: { take: () => {}, tryTake: () => null },
    logger: createLogger({ level: 'error', format: 'json', service: 'api' }),
    metrics: new Metrics('api', { process: false }),
  });
  const pastes = await makePastes(bed.db, 3, { status: 'IN_PROGRESS' });
  let settled = 0;
  for (const { id } of pastes) {
    const watcher: Watcher = {
      purpose: 'wait',
      kind: 'upload',
      id,
      wants: () => ({ after: null }),
      onSnapshot: (snapshot) => {
        if (snapshot?.status !== 'PROCESSED') return;
        settled += 1;
        poller.unwatch(watcher);
      },
      onStop: () => {},
    };
    poller.watch(watcher);
  }
  await until(() => reads.length >= 2);
  expect(reads[0]).toContainEqual(pastes.map(({ id }) => id));
  for (const { shortCode } of pastes) await settle(bed.db, shortCode, 's3://pasteflow/x');
  await until(() => settled === 3);
  await db.destroy();
});
