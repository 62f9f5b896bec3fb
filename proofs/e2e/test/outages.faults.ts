import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BUSY_MACHINE_MS } from '@pasteflow/dev-stack/testing';
import { type Load, startCluster, startStack, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  const stack = await startStack();
  // Without the proxy, so that the services see a restart of Postgres as it is.
  cluster = await startCluster({ stack, env: { DATABASE_URL: stack.databaseUrl } });
  // A worker is ready before its consumers receive.
  await cluster.until(() => cluster.sqs.matching({ target: 'ReceiveMessage' }).length >= CONSUMERS);
});
afterEach(() => repair());
afterAll(() => cluster.stop());

/** The default of UPLOAD_CONCURRENCY. */
const CONSUMERS = 4;

/** Removes all faults of S3 and SQS. Requests that got no answer never get one. */
async function repair(): Promise<void> {
  for (const proxy of [cluster.sqs, cluster.s3]) {
    proxy.clear();
    await proxy.up();
  }
}

describe('an outage of SQS', () => {
  it.each([
    ['connections are refused', () => cluster.sqs.down(), haveReceivesFailed],
    ['requests get no answer', () => void cluster.sqs.rule({}, { kind: 'hang' }), doConsumersWait],
  ])(
    'leaves creations at 201, and the uploads run within 10 s after its end: %s',
    async (_, down, isEnough) => {
      const downAt = performance.now();
      await down();
      const contents = Array.from({ length: 25 }, () => randomBytes(200));
      const pastes = await Promise.all(contents.map((content) => cluster.client().pastes.create(content)));
      await cluster.until(() => isEnough(downAt));
      const { status, headers } = await cluster.http().read(pastes[0]!.short_code);
      expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '1' });

      const backAt = performance.now();
      await repair();
      for (const [index, { short_code: code }] of pastes.entries()) {
        await cluster.untilStatus(code, 'PROCESSED');
        const [put, ...more] = cluster.s3.matching({ method: 'PUT', path: cluster.objectPath(code) });
        expect(put!.at - backAt).toBeLessThan(
          10_000 + BUSY_MACHINE_MS + cluster.stack.aws.abandonedReceiveMs,
        );
        expect(more).toEqual([]);
        expect((await cluster.http().read(code)).body.equals(contents[index]!)).toBe(true);
      }
      await cluster.expectQuiet();
    },
    120_000,
  );

  it('does not end the lease of a put in progress', async () => {
    const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
    const { short_code: code } = await cluster.client().pastes.create(randomBytes(200));
    const put = await holding;
    cluster.sqs.rule({}, { kind: 'hang' });
    await cluster.until(
      () =>
        cluster.rows.query(
          `SELECT lease_expires_at > started_at + interval '9 seconds' AS renewed FROM task_executions WHERE status = 'RUNNING'`,
        ),
      ([row]) => row!.renewed === true,
    );
    await put.forward();
    await cluster.untilStatus(code, 'PROCESSED');
    expect(await cluster.executions(code)).toMatchObject([{ attempt: 1, status: 'SUCCEEDED' }]);
    await repair();
    await cluster.expectQuiet({ within: 60_000 });
  });
});

/** After so many failures, the waits between two tries are close to their maximum. */
function haveReceivesFailed(): boolean {
  const count = (name: string, message: RegExp) =>
    cluster.services
      .filter((service) => service.name === name)
      .flatMap(({ log }) => log.filter((line) => message.test(line.message))).length;
  return count('upload-worker', /^receiving messages failed/) >= 10 && count('janitor', /^sweep failed/) >= 2;
}

/** The worst time for the end of the outage: every consumer has just sent a request that gets no answer. */
function doConsumersWait(since: number): boolean {
  const unanswered = cluster.sqs
    .matching({ target: 'ReceiveMessage' })
    .filter(({ at, status }) => at > since && status === undefined);
  const abandoned = unanswered.filter(({ aborted }) => aborted).length;
  return abandoned >= CONSUMERS && unanswered.length - abandoned >= CONSUMERS;
}

describe('an outage of Postgres under load', () => {
  it.each([
    ['a restart', () => cluster.stack.restartPostgres(() => failures(20))],
    ['a crash', crashPostgres],
  ])(
    'makes requests fail with 503 problem details, ends no process, and all requests succeed afterwards: %s',
    async (_, restart) => {
      const stored = await cluster.client().pastes.create(randomBytes(200));
      await cluster.untilStatus(stored.short_code, 'PROCESSED');
      const pids = cluster.services.map(({ pid }) => pid);

      load = cluster.load((n) => request(n, stored.short_code), { lanes: 6 });
      await successes(30);
      await restart();
      await successes(30);
      const outcomes = await load.stop();

      const unexpected = outcomes.filter(({ summary }) => !['201', '200', UNAVAILABLE].includes(summary));
      expect(unexpected).toEqual([]);
      expect(cluster.services.map(({ pid }) => pid)).toEqual(pids);
      for (const { pid, name } of cluster.services)
        expect({ name, alive: isAlive(pid) }).toEqual({ name, alive: true });
      await cluster.expectQuiet({ within: 60_000 });
      for (const { content, code } of outcomes) {
        if (content === undefined || code === undefined) continue;
        expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
      }
    },
    120_000,
  );
});

describe('a read during an outage of S3', () => {
  it.each([
    ['S3 is unreachable', () => cluster.s3.down()],
    ['S3 fails', () => void cluster.s3.rule({ method: 'GET' }, { kind: 'fail', status: 500 })],
  ])('answers a 503 problem, and the content after the outage: %s', async (_, down) => {
    const content = randomBytes(200);
    const { short_code: code } = await cluster.client().pastes.create(content);
    await cluster.untilStatus(code, 'PROCESSED');
    await down();
    expect(await describeAnswer(await cluster.http().request(`/${code}`))).toBe(UNAVAILABLE);
    await repair();
    const { status, body } = await cluster.http().read(code);
    expect(status).toBe(200);
    expect(body.equals(content)).toBe(true);
  });
});

const UNAVAILABLE = '503 application/problem+json dependency_unavailable';

interface Outcome {
  /** The status of a success, or a description of the failure. */
  readonly summary: string;
  readonly content?: Buffer;
  readonly code?: string;
}

let load: Load<Outcome>;

const failures = (count: number) => untilMore(({ summary }) => summary === UNAVAILABLE, count);
const successes = (count: number) => untilMore(({ summary }) => summary.startsWith('20'), count);

/** Waits for `count` further outcomes of this kind. */
async function untilMore(kind: (outcome: Outcome) => boolean, count: number): Promise<void> {
  const countNow = () => load.outcomes.filter(kind).length;
  const before = countNow();
  await cluster.until(countNow, (now) => now >= before + count, { within: 60_000 });
}

/** Creates a paste, reads the metadata of a stored paste, or reads its content, in turn. */
async function request(n: number, stored: string): Promise<Outcome> {
  const content = randomBytes(300);
  const signal = AbortSignal.timeout(10_000);
  const post = {
    method: 'POST',
    body: content,
    headers: { 'content-type': 'application/octet-stream' },
    signal,
  };
  const path = ['/v1/pastes', `/v1/pastes/${stored}`, `/${stored}`][n % 3]!;
  try {
    const response = await cluster.http().request(path, n % 3 === 0 ? post : { signal });
    if (response.status !== 201) return { summary: await describeAnswer(response) };
    const { short_code: code } = (await response.json()) as { short_code: string };
    return { summary: '201', content, code };
  } catch (error) {
    return { summary: `${path}: no answer: ${String(error)} ${String((error as Error).cause)}` };
  }
}

async function describeAnswer(response: Response): Promise<string> {
  const body = await response.text();
  if (response.status === 200) return '200';
  const type = response.headers.get('content-type');
  const detail = type === 'application/problem+json' ? (JSON.parse(body) as { code: string }).code : body;
  return `${response.status} ${type} ${detail}`;
}

/**
 * Kills a backend, after which the postmaster ends all others and recovers. That takes only milliseconds
 * here, so it happens three times.
 */
async function crashPostgres(): Promise<void> {
  const api = cluster.apis[0]!;
  const lost = () => api.log.filter(({ message }) => message === 'connection to Postgres lost').length;
  for (let times = 0; times < 3; times += 1) {
    await successes(10);
    const before = lost();
    const [backend] = await cluster.until(
      () =>
        cluster.rows.query(`SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'api/%' LIMIT 1`),
      ({ length }) => length === 1,
    );
    process.kill(backend!.pid as number, 'SIGKILL');
    await cluster.until(lost, (now) => now > before);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
