import { recordSweepRun } from '@pasteflow/postgres';
import { makeJobs, makePastes, stepClockBack, type ExecutionShape } from '@pasteflow/postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import type { Need } from '../src/operations/reports/needs.ts';
import type { Status } from '../src/operations/reports/read-status.ts';
import { callSqs, sendRaw } from './messages.ts';
import { createWorld, JOBS, makeReport, UPLOADS, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  await sql`TRUNCATE sweep_runs`.execute(world.db);
  await sql`UPDATE installation SET created_at = now()`.execute(world.db); // no sweep is overdue
});

const ops = (...args: string[]) => runOpsCommand(args, world.env);
async function statusNow(): Promise<Status & { readonly needs: readonly Need[] }> {
  const { code, stdout, stderr } = await ops('status', '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof statusNow>>;
}

describe('ops status', () => {
  it('shows how many entities are in each state, and the age of the oldest', async () => {
    await makePastes(world.db, 3, { status: 'IN_PROGRESS', createdSecondsAgo: 45 });
    await makePastes(world.db, 1, {
      status: 'PROCESSED',
      expiresInSeconds: -60,
      deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 30 },
    });
    await makeJobs(world.db, 2, { userId: world.userId, status: 'processing', createdSecondsAgo: 90 });
    const { states } = await statusNow();
    const of = (machine: string, state: string) =>
      states.find((each) => each.machine === machine && each.state === state);
    expect(of('paste_upload', 'IN_PROGRESS')).toMatchObject({ count: 3, approximate: false });
    expect(of('paste_upload', 'IN_PROGRESS')!.oldest_seconds).toBeGreaterThanOrEqual(45);
    expect(of('paste_deletion', 'DELETION_IN_PROGRESS')!.oldest_seconds).toBeGreaterThanOrEqual(30);
    expect(of('paste_deletion', 'NOT_EXPIRED')).toMatchObject({ count: 3, approximate: false });
    expect(of('job', 'processing')).toMatchObject({ count: 2 });
    expect(of('task_execution', 'RUNNING')).toMatchObject({ count: 2 });
    expect(of('task_execution', 'PENDING')).toMatchObject({ count: 3 });
    expect(of('job', 'queued')).toMatchObject({ count: 0, oldest_seconds: null });
  });

  it('lists stuck work, the worst first, and no work that is in progress', async () => {
    const made = (shortCode: string, execution: object) =>
      makePastes(world.db, 1, {
        status: 'IN_PROGRESS',
        shortCodes: [shortCode],
        execution: { attempt: 1, ...execution } as never,
      });
    await made('zombie', { status: 'RUNNING', leaseSeconds: -5, workerId: 'upload-worker/dead', attempt: 2 });
    await made('unsent', { status: 'PENDING', dueSecondsAgo: 20 });
    await made('unclaimed', { status: 'PENDING', dueSecondsAgo: 300, dispatchedSecondsAgo: 3 });
    await made('running', { status: 'RUNNING', leaseSeconds: 5 });
    await made('later', { status: 'PENDING', dueSecondsAgo: -10 });
    await made('justsent', { status: 'PENDING', dueSecondsAgo: 20, dispatchedSecondsAgo: 20 });
    await made('new', { status: 'PENDING', dueSecondsAgo: 1 });
    await makePastes(world.db, 1, {
      status: 'FAILED',
      shortCodes: ['deletion'],
      expiresInSeconds: -9000,
      deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 8000 },
    });
    const [job] = await makeJobs(world.db, 1, {
      userId: world.userId,
      status: 'processing',
      execution: { status: 'RUNNING', leaseSeconds: -1, workerId: 'upload-worker/gone' },
    });

    const [stranded] = await made('stranded', { status: 'PENDING', dueSecondsAgo: 1 });
    await world.db.deleteFrom('task_executions').where('id', '=', stranded!.executionId).execute();

    const { stuck, zombies, stranded: counted } = await statusNow();
    expect(stuck.map(({ seconds: _, ...rest }) => rest)).toEqual([
      { what: 'zombie', kind: 'upload', subject: 'zombie', attempt: 2, worker_id: 'upload-worker/dead' },
      { what: 'zombie', kind: 'job', subject: job!.id, attempt: 1, worker_id: 'upload-worker/gone' },
      { what: 'stranded', kind: 'upload', subject: 'stranded', attempt: null, worker_id: null },
      { what: 'unsent', kind: 'upload', subject: 'unsent', attempt: 1, worker_id: null },
      { what: 'unclaimed', kind: 'upload', subject: 'unclaimed', attempt: 1, worker_id: null },
      { what: 'deletion', kind: 'upload', subject: 'deletion', attempt: null, worker_id: null },
    ]);
    expect(stuck[0]!.seconds).toBeGreaterThanOrEqual(5);
    expect(zombies).toEqual({ upload: 1, job: 1, webhook: 0 });
    expect(counted).toEqual({ upload: 1, job: 0, webhook: 0 });
    const { stdout } = await ops('status');
    expect(stdout).toMatch(/^- deletion stuck for 2 h 13 m \(deletion\), and 1 more\.$/m);
    expect(stdout).toMatch(/^zombie +upload +zombie +2 +\d+(?:\.\d)? s +upload-worker\/dead$/m);
  });

  it('names the work that waits until a time that is too far ahead', async () => {
    const waiting = { status: 'PENDING', dueSecondsAgo: -50, dispatchedSecondsAgo: 1 } as const;
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', shortCodes: ['waiting'], execution: waiting });
    await stepClockBack(world.db, 600);
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', shortCodes: ['right'], execution: waiting });
    const { stuck, ahead } = await statusNow();
    expect(stuck).toMatchObject([{ what: 'ahead', kind: 'upload', subject: 'waiting' }]);
    expect(stuck[0]!.seconds).toBeGreaterThan(500);
    expect(ahead).toEqual({ upload: 1, job: 0, webhook: 0 });
  });

  it('says next that nothing needs a person, when that is so', async () => {
    const { stdout } = await ops('status');
    expect(stdout).toContain('Oldest waiting   none\n');
    expect(stdout).toMatch(/seconds\n\nNothing needs a person\.\n/);
    expect((await statusNow()).needs).toEqual([]);
  });

  it('says next what needs a person, each with its count, its age, its cause and what helps', async () => {
    const failed = await makePastes(world.db, 3, { status: 'FAILED', createdSecondsAgo: 600 });
    await sql`INSERT INTO failed_payloads SELECT id, 'content' FROM pastes`.execute(world.db);
    await sql`UPDATE pastes SET failure_reason = 'storage refused: 403' WHERE short_code = ${failed[0]!.shortCode}`.execute(
      world.db,
    );
    await makePastes(world.db, 1, { status: 'FAILED', expiresInSeconds: -1 }); // which can't be retried
    await makeReport(world.db, 7200);
    await sql`UPDATE pastes SET held_at = now() WHERE id IN (SELECT paste_id FROM paste_reports)`.execute(
      world.db,
    );
    await sql`INSERT INTO erasures (user_id, pastes, jobs, created_at) VALUES
      (gen_random_uuid(), 1, 0, now() - interval '2 hours'), (gen_random_uuid(), 1, 0, now())`.execute(
      world.db,
    );
    expect((await ops('pause', 'uploads', '--reason', 'S3 is slow')).code).toBe(0);
    await sendRaw(world, `${UPLOADS}-dead-letters`, 'one');
    await recordSweepRun(world.db, {
      sweep: 'cleanup',
      outcome: 'failed',
      seconds: 1,
      counts: {},
      janitor: 'janitor/a',
    });
    await sql`UPDATE sweep_runs SET last_success_at = now() - interval '4 minutes'`.execute(world.db);
    const { needs } = await statusNow();
    const of = (what: string) => needs.filter((each) => each.what === what);
    expect(new Set(needs.map(({ what }) => what))).toEqual(
      new Set([
        'failed_uploads',
        'paused_work',
        'reported_pastes',
        'waiting_erasures',
        'dead_letters',
        'overdue_sweep',
      ]),
    );
    expect(needs[0]).toEqual({
      what: 'failed_uploads',
      text: expect.stringMatching(
        /^3 uploads failed, the first (9|10) m.* ago: made to fail; 1 other reason$/,
      ),
      command: expect.stringMatching(/^npm run ops -- retry --all-failed-since \d{4}-/),
      page: '/failed',
      action: { name: 'retry-failed', subject: null, label: 'Retry' },
    });
    expect(of('paused_work')[0]!.text).toMatch(/^uploads paused since \d{4}-.* by ops\/.*: S3 is slow$/);
    expect(of('reported_pastes')[0]!.text).toMatch(
      /^1 reported paste to judge, 1 of them held; the oldest report is 2 h old$/,
    );
    expect(of('waiting_erasures')[0]!.text).toMatch(/^2 erasures not done, the oldest for 2 h$/);
    expect(of('dead_letters')[0]!.text).toBe(`1 dead letter in ${UPLOADS}-dead-letters`);
    expect(of('overdue_sweep').map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^The sweep cleanup last succeeded 4 m.* ago, and its last run failed$/),
    );
    const { stdout } = await ops('status');
    expect(stdout).toMatch(
      /http_request_duration_seconds\n\nNeeds a person:\n- 3 uploads failed, .*\.\n {4}npm run ops -- retry /,
    );
    expect(stdout).toMatch(/^ +2 +\S+ +\S+ +made to fail\n +1 +\S+ +\S+ +storage refused: 403$/m);
    expect(stdout).not.toMatch(/^\w+ +\w+ +0 /m);
    const [since] = /\d{4}-\S+Z/.exec(needs[0]!.command!)!;
    expect((await ops('retry', '--all-failed-since', since, '--yes')).code).toBe(0);
    expect((await statusNow()).needs.map(({ what }) => what)).not.toContain('failed_uploads');
    expect((await ops('resume', 'uploads')).code).toBe(0);
  });

  it('names the uploads and the jobs that were lost more than three times, those with the most losses first', async () => {
    expect((await ops('status')).stdout).not.toContain('LOST');
    const lost = (shortCode: string, execution: ExecutionShape) =>
      makePastes(world.db, 1, { status: 'IN_PROGRESS', shortCodes: [shortCode], execution });
    await lost('thrice', { status: 'PENDING', losses: 3, dueSecondsAgo: -60 });
    await lost('waiting', { status: 'PENDING', losses: 4, dueSecondsAgo: -60 });
    await lost('running', { status: 'RUNNING', losses: 70, workerId: 'upload-worker/a' });
    const [job] = await makeJobs(world.db, 1, {
      userId: world.userId,
      status: 'processing',
      execution: { status: 'PENDING', losses: 5, dueSecondsAgo: -60 },
    });
    const none = { worker_id: null, run_at: expect.any(String) };
    const { lost: shown } = await statusNow();
    expect(shown).toEqual([
      {
        ...none,
        kind: 'upload',
        subject: 'running',
        losses: 70,
        status: 'RUNNING',
        worker_id: 'upload-worker/a',
      },
      { ...none, kind: 'job', subject: job!.id, losses: 5, status: 'PENDING' },
      { ...none, kind: 'upload', subject: 'waiting', losses: 4, status: 'PENDING' },
    ]);
    const { stdout } = await ops('status');
    expect(stdout).toMatch(/^running +upload +70 +RUNNING +\d{4}-\S+ +upload-worker\/a$/m);
    expect(stdout).toMatch(new RegExp(`^${job!.id} +job +5 +PENDING `, 'm'));
  });

  it('counts the messages of the four queues', async () => {
    await sendRaw(world, UPLOADS, 'one', 'two');
    await sendRaw(world, `${JOBS}-dead-letters`, 'three');
    await callSqs(world.stack.aws.endpoint, 'ReceiveMessage', UPLOADS, { VisibilityTimeout: 30 });
    const { queues } = await statusNow();
    expect(queues).toEqual([
      { queue: UPLOADS, visible: 1, in_flight: 1, delayed: 0, error: null },
      { queue: `${UPLOADS}-dead-letters`, visible: 0, in_flight: 0, delayed: 0, error: null },
      { queue: JOBS, visible: 0, in_flight: 0, delayed: 0, error: null },
      { queue: `${JOBS}-dead-letters`, visible: 1, in_flight: 0, delayed: 0, error: null },
    ]);
  });

  it('shows the rest of the status when SQS does not answer', async () => {
    world.proxy.rule({ target: /SQS/ }, { kind: 'fail', status: 500 });
    const { queues, states } = await statusNow();
    expect(queues.map(({ visible, error }) => [visible, error])).toEqual(
      Array(4).fill([null, expect.stringContaining('sqs does not answer')]),
    );
    expect(states).not.toEqual([]);
  });

  it('shows the last run of each sweep, and marks it overdue after 1.5 intervals and a minute', async () => {
    const ran = (sweep: string, endedSecondsAgo: number, outcome: 'done' | 'failed' = 'done') =>
      recordSweepRun(world.db, {
        sweep,
        outcome,
        seconds: 1.5,
        counts: { sent: 4, resent: 0 },
        janitor: 'janitor/a',
      }).then(
        // oxfmt-ignore
        () => sql`UPDATE sweep_runs SET ended_at = ended_at - make_interval(secs => ${endedSecondsAgo}),
          last_success_at = last_success_at - make_interval(secs => ${endedSecondsAgo}) WHERE sweep = ${sweep}`.execute(
            world.db,
          ),
      );
    await ran('relay', 50);
    await ran('cleanup', 200);
    await ran('dead-letters', 140);
    await ran('reap-executions', 70);
    await ran('reap-executions', 0, 'failed');
    const { sweeps } = await statusNow();
    const of = (name: string) => sweeps.find(({ sweep }) => sweep === name);
    expect(of('relay')).toMatchObject({
      outcome: 'done',
      overdue: false,
      seconds: 1.5,
      interval_seconds: 2,
      counts: { sent: 4, resent: 0 },
      janitor: 'janitor/a',
    });
    expect(of('cleanup')).toMatchObject({ overdue: true });
    expect(of('dead-letters')).toMatchObject({ overdue: false });
    expect(of('reap-executions')).toMatchObject({ outcome: 'failed', overdue: true });
    const { stdout } = await ops('status');
    expect(stdout).toMatch(/^relay +2 s +5\d s ago +done +1\.5 s +sent 4$/m);
  });

  it('says that no janitor may be running when many sweeps are overdue', async () => {
    await sql`UPDATE installation SET created_at = now() - interval '5 days'`.execute(world.db);
    expect((await statusNow()).needs.map(({ text }) => text)).toEqual([
      '13 sweeps overdue: no janitor may be running',
    ]);
  });

  it('shows a sweep that never ran, and marks it overdue 1.5 intervals and a minute after the first migration', async () => {
    const reconcile = async () => (await statusNow()).sweeps.find(({ sweep }) => sweep === 'reconcile');
    const never = { outcome: null, last_success_at: null };
    expect(await reconcile()).toMatchObject({ ...never, overdue: false });
    expect((await ops('status')).stdout).toMatch(/^reconcile +1 d +never +never +-/m);
    await sql`UPDATE installation SET created_at = created_at - interval '37 hours'`.execute(world.db);
    expect(await reconcile()).toMatchObject({ ...never, overdue: true });
    expect((await ops('status')).stdout).toMatch(/^reconcile +1 d +never +never, OVERDUE/m);
  });

  it('exits with 1 and one sentence when Postgres does not answer', async () => {
    const { code, stdout, stderr } = await runOpsCommand(['status'], {
      ...world.env,
      DATABASE_URL: 'postgres://pasteflow:x@127.0.0.1:1/none',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('ops: postgres does not answer at the moment; try again shortly.\n');
  });
});
