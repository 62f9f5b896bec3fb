import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Standby, startStandby, TcpProxy } from '@pasteflow/dev-stack/testing';
import {
  type Load,
  startCluster,
  startStack,
  type Cluster,
  type RestartableStack,
  type User,
} from '../src/index.ts';

/** For so long the standby answers reads and refuses writes. */
const READ_ONLY_SECONDS = Number(process.env.FAILOVER_SECONDS ?? 5);
const MANY = 60;

let primary: RestartableStack;
let standby: Standby;
/** The address of the primary, which the failover moves. */
let address: TcpProxy;
let cluster: Cluster;
let user: User;
beforeAll(async () => {
  primary = await startStack();
  standby = await startStandby(primary.databaseUrl);
  address = await TcpProxy.start(Number(new URL(primary.databaseUrl).port));
  const stack = { ...primary, databaseUrl: address.through(primary.databaseUrl) };
  cluster = await startCluster({ stack, workers: 2, janitors: 2 });
  user = await cluster.user('ann');
}, 240_000);
afterAll(async () => {
  await cluster?.stop();
  await address?.stop();
  await standby?.stop();
});

interface Outcome {
  /** The status, for a failure with the code and Retry-After. */
  readonly summary: string;
  readonly kind: Kind;
  readonly content: Buffer;
  /** Of a created paste. */
  readonly code: string | undefined;
}

const UNAVAILABLE = '503 dependency_unavailable 1';
let load: Load<Outcome>;

type Kind = keyof ReturnType<typeof requests>;

const requests = (content: Buffer, stored: string) => ({
  create: () => cluster.http().post(content),
  createOnce: () =>
    cluster.http().post(content, { headers: { ...asUser(), 'idempotency-key': keyOf(content) } }),
  import: () => {
    const parameters = { items: [{ content: content.toString('hex') }] };
    return cluster.http().post(JSON.stringify({ job_type: 'import', parameters }), {
      path: '/v1/jobs',
      headers: { ...asUser(), 'content-type': 'application/json' },
    });
  },
  read: () => cluster.http().request(`/${stored}`),
  list: () => cluster.http().request('/v1/pastes', { headers: asUser() }),
});
const kinds = ['create', 'createOnce', 'import', 'read', 'list'] as const;

const asUser = () => ({ authorization: `Bearer ${user.token}` });
const keyOf = (content: Buffer) => content.toString('hex', 0, 16);

async function send(kind: Kind, content: Buffer, stored: string): Promise<Outcome> {
  const answer = { kind, content, code: undefined };
  try {
    const response = await requests(content, stored)[kind]();
    const { status, ok, headers } = response;
    if (kind === 'read' && ok) return { ...answer, summary: String(status) };
    const { code, short_code } = (await response.json()) as { code: string; short_code?: string };
    const summary = ok ? String(status) : `${status} ${code} ${headers.get('retry-after')}`;
    return { ...answer, summary, code: short_code };
  } catch (error) {
    return { ...answer, summary: `no answer: ${String((error as Error).cause ?? error)}` };
  }
}

/** Waits for `count` further outcomes of this kind. */
async function untilMore(isKind: (outcome: Outcome) => boolean, count: number): Promise<void> {
  const countNow = () => load.outcomes.filter(isKind).length;
  const before = countNow();
  await cluster.until(countNow, (now) => now >= before + count, { within: 120_000 });
}

const isSuccess = ({ summary }: Outcome) => summary.startsWith('2');

it('after a failover to a synchronous standby that refused writes for a while, the services go on by themselves: requests got 503 with Retry-After, and nothing is lost or stuck', async () => {
  const { short_code: stored } = await cluster.client().pastes.create(randomBytes(200));
  await cluster.untilStatus(stored, 'PROCESSED');

  load = cluster.load((n) => send(kinds[n % kinds.length]!, randomBytes(300), stored), {
    lanes: 6,
    pauseMs: 20,
  });
  await untilMore(isSuccess, MANY);
  process.kill(primary.postgresPid, 'SIGQUIT'); // an immediate shutdown, as a crash
  await address.moveTo(standby.port);
  const readOnlyUntil = performance.now() + READ_ONLY_SECONDS * 1000;
  await untilMore(({ summary }) => summary === UNAVAILABLE, 20);
  await untilMore(({ kind, summary }) => kind === 'read' && summary === '200', 1);
  await cluster.until(() => performance.now() >= readOnlyUntil, Boolean, { within: 120_000 });
  await standby.promote();
  await untilMore(isSuccess, MANY);
  const outcomes = await load.stop();

  const summaries = outcomes.map(({ summary }) => summary);
  expect(summaries.filter((summary) => !['200', '201', '202', UNAVAILABLE].includes(summary))).toEqual([]);
  for (const { pid } of cluster.services) process.kill(pid, 0); // throws when the process has ended
  const repeated: Outcome[] = [];
  for (const { kind, content } of outcomes.filter((outcome) => outcome.kind === 'createOnce'))
    repeated.push(
      // A claim of a key that the failover interrupted is free after 15 s, as its 409 says.
      await cluster.until(
        () => send(kind, content, stored),
        ({ summary }) => !summary.startsWith('409 idempotency_key_in_use'),
      ),
    );
  expect(new Set(repeated.map(({ summary }) => summary))).toEqual(new Set(['201']));
  await cluster.expectQuiet({ within: 240_000 });
  for (const { code, content } of [...outcomes, ...repeated])
    if (code !== undefined) expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
  expect(
    await cluster.rows.query(
      `SELECT count(*) FROM pastes WHERE user_id = $1 GROUP BY content_hash HAVING count(*) > 1`,
      [user.userId],
    ),
  ).toEqual([]);
}, 600_000);
