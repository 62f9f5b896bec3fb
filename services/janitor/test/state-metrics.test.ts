import { machines, isTerminal, statesOf, type Machine } from '@pasteflow/domain';
import {
  defaultTimeBounds,
  installStateMachines,
  settleExecutions,
  uploadSubject,
} from '@pasteflow/postgres';
import { makeJobs, makePastes, type ExecutionShape } from '@pasteflow/postgres/testing';
import { Metrics } from '@pasteflow/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { DeadLetterAges } from '../src/sweeps/running/findings.ts';
import { StateMetrics } from '../src/metrics/state-metrics.ts';
import { createMeasure } from '../src/sweeps/measure.ts';
import { makeDue, makeErasures, makeRequests } from './open-rows.ts';
import { callSqs } from './messages.ts';
import { createWorldWithPostgres, JOBS, makeReport, running, UPLOADS, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorldWithPostgres();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

function janitor(nowMs?: () => number) {
  const metrics = new Metrics('janitor', { process: false });
  const deadLetterAges = new DeadLetterAges();
  const { janitorDb: db, log: logger } = world;
  const state = new StateMetrics(
    { ...world, db, deadLetterAges, quotas: null, bounds: defaultTimeBounds, metrics, logger },
    { intervalSeconds: 15, mayLoseDataBy: ['full_page_writes'], onSweepRuns: () => {} },
    nowMs,
  );
  return { state, metrics, deadLetterAges };
}

/** Values by `name{label="value"}`, without the label that every metric has. */
async function shown(metrics: Metrics): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value] = /^(.*) (\S+)$/.exec(line) ?? [];
      return [name.replace(/,?service="janitor"/, '').replace('{}', ''), Number(value)];
    }),
  );
}

describe('the state metrics', () => {
  it('count what is missing of the enforcement, and log it once', async () => {
    const { state, metrics } = janitor();
    const gaps = async () => {
      await state.read(running());
      return (await shown(metrics)).pasteflow_enforcement_gaps;
    };
    const logged = () => world.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);
    expect(await gaps()).toBe(0);
    world.log.lines.length = 0; // what the first reading says of the settings of Postgres
    await sql`ALTER TABLE jobs DISABLE TRIGGER guard_job`.execute(world.db);
    await sql`ALTER TABLE jobs ENABLE TRIGGER record_jobs`.execute(world.db); // no longer ALWAYS
    expect([await gaps(), await gaps()]).toEqual([2, 2]);
    expect(logged()).toEqual([{ gaps: ['trigger guard_job on jobs', 'trigger record_jobs on jobs'] }]);
    await installStateMachines(world.db);
    expect(await gaps()).toBe(0);
    await sql`GRANT DELETE ON pastes TO pasteflow_api`.execute(world.db);
    expect(await gaps()).toBe(1);
    expect(logged().at(-1)).toEqual({ gaps: ['too much: pasteflow_api: DELETE ON pastes'] });
    await sql`REVOKE DELETE ON pastes FROM pasteflow_api`.execute(world.db);
  });

  it('report how many entities are in each state, the age of the oldest, and stuck executions', async () => {
    const { db, userId } = world;
    const open = { status: 'IN_PROGRESS', createdSecondsAgo: 100 } as const;
    await makePastes(db, 3, { ...open, execution: { status: 'PENDING', dueSecondsAgo: 11 } }); // never sent
    await makePastes(db, 1, { ...open, execution: { status: 'PENDING', dueSecondsAgo: -60 } }); // waits
    const sent = { status: 'PENDING', dispatchedSecondsAgo: 40, dueSecondsAgo: 50 } as const;
    await makePastes(db, 2, { ...open, execution: sent });
    await makePastes(db, 4, { ...open, execution: { status: 'RUNNING' } });
    await makePastes(db, 5, { ...open, execution: { status: 'RUNNING', leaseSeconds: -3 } });
    await makePastes(db, 6, {
      status: 'PROCESSED',
      deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 900 },
    });
    await makePastes(db, 2, { status: 'PROCESSED', deletion: { status: 'DELETED', secondsAgo: 900 } });
    await makePastes(db, 2, { status: 'FAILED' });
    await makeJobs(db, 2, { userId, status: 'queued', createdSecondsAgo: 30 });
    await makeJobs(db, 3, { userId, status: 'processing', createdSecondsAgo: 200 });
    await makeJobs(db, 1, { userId, status: 'completed' });
    await makePastes(db, 1, { ...open, execution: { status: 'RUNNING', workerId: 'stranded' } });
    await sql`DELETE FROM task_executions WHERE worker_id = 'stranded'`.execute(db);
    await Promise.all([makeReport(db, 500), makeErasures(db), makeRequests(db, userId), makeDue(db, userId)]);
    await sql`ANALYZE pastes`.execute(db);
    const { state, metrics } = janitor();
    await state.read(running());
    const figures = await shown(metrics);
    expect(figures).toMatchObject({
      'pasteflow_state_entities{machine="paste_upload",state="IN_PROGRESS"}': 16,
      'pasteflow_state_entities{machine="paste_deletion",state="DELETION_IN_PROGRESS"}': 6,
      'pasteflow_state_entities{machine="paste_deletion",state="NOT_EXPIRED"}': 18,
      'pasteflow_state_entities{machine="job",state="queued"}': 2,
      'pasteflow_state_entities{machine="secret_request",state="OPEN"}': 2, // the third has expired
      'pasteflow_state_entities{machine="job",state="processing"}': 3,
      'pasteflow_state_entities{machine="webhook_delivery",state="WAITING"}': 2,
      'pasteflow_state_entities{machine="task_execution",state="PENDING"}': 10,
      'pasteflow_state_entities{machine="task_execution",state="RUNNING"}': 12,
      'pasteflow_zombie_executions{kind="upload"}': 5,
      'pasteflow_zombie_executions{kind="job"}': 0,
      'pasteflow_stranded_work{kind="upload"}': 1,
      'pasteflow_stranded_work{kind="job"}': 0,
      pasteflow_unsafe_postgres_settings: 1, // tests start Postgres without fsync
      'pasteflow_unsent_executions{kind="upload"}': 3,
      'pasteflow_unsent_executions{kind="job"}': 2,
      'pasteflow_unsent_executions{kind="webhook"}': 0,
      'pasteflow_paused_seconds{kind="webhooks"}': 0,
    });
    const ages = Object.entries(figures).filter(([name]) => name.includes('_oldest_age_'));
    const expected = {
      'pasteflow_state_oldest_age_seconds{machine="paste_upload",state="IN_PROGRESS"}': 100,
      'pasteflow_state_oldest_age_seconds{machine="paste_deletion",state="DELETION_IN_PROGRESS"}': 900,
      'pasteflow_state_oldest_age_seconds{machine="job",state="queued"}': 30,
      'pasteflow_state_oldest_age_seconds{machine="job",state="processing"}': 200,
      'pasteflow_state_oldest_age_seconds{machine="paste_report",state="open"}': 500,
      'pasteflow_state_oldest_age_seconds{machine="secret_request",state="OPEN"}': 700,
      'pasteflow_state_oldest_age_seconds{machine="erasure",state="requested"}': 300,
      'pasteflow_state_oldest_age_seconds{machine="erasure",state="at_work"}': 400,
      'pasteflow_state_oldest_age_seconds{machine="task_execution",state="PENDING"}': 100,
      'pasteflow_state_oldest_age_seconds{machine="task_execution",state="RUNNING"}': 200,
      'pasteflow_queue_oldest_age_seconds{queue="uploads"}': 50,
      'pasteflow_queue_oldest_age_seconds{queue="jobs"}': 0,
      'pasteflow_queue_oldest_age_seconds{queue="webhooks"}': 70,
      'pasteflow_state_oldest_age_seconds{machine="webhook_delivery",state="WAITING"}': 80,
      'pasteflow_queue_oldest_age_seconds{queue="uploads_dead_letters"}': 0,
      'pasteflow_queue_oldest_age_seconds{queue="jobs_dead_letters"}': 0,
    };
    // Since they were made no minute has gone by; nothing else is 60 s apart from what it has to be.
    expect(ages.map(([name]) => name).toSorted()).toEqual(Object.keys(expected).toSorted());
    for (const [name, age] of Object.entries(expected)) {
      expect(figures[name]).toBeGreaterThanOrEqual(age);
      expect(figures[name]).toBeLessThan(age === 0 ? 0.001 : age + 20);
    }
  });

  it('count the uploads, jobs and deliveries that were lost more than three times, and have not ended', async () => {
    const { db, userId } = world;
    const lost = (count: number, execution: ExecutionShape) =>
      makePastes(db, count, { status: 'IN_PROGRESS', execution });
    const { state, metrics } = janitor();
    const counts = async () => {
      await state.read(running());
      const figures = await shown(metrics);
      return ['upload', 'job', 'webhook'].map((kind) => figures[`pasteflow_lost_work{kind="${kind}"}`]);
    };
    await lost(4, { status: 'PENDING', losses: 3 });
    expect(await counts()).toEqual([0, 0, 0]);
    await lost(2, { status: 'PENDING', losses: 4, dueSecondsAgo: -60 });
    const [settled] = await lost(1, { status: 'RUNNING', losses: 900 });
    const execution = { status: 'RUNNING', losses: 5 } as const;
    await makeJobs(db, 1, { userId, status: 'processing', execution });
    await makeDue(db, userId, execution);
    expect(await counts()).toEqual([3, 1, 2]);
    const settlement = {
      executionId: settled!.executionId,
      outcome: { kind: 'succeeded', s3Url: 's3://pasteflow/x' },
      nextStep: { kind: 'done' },
    } as const;
    await settleExecutions(db, uploadSubject, [settlement], { actor: 'upload-worker/a', dispatched: true });
    expect(await counts()).toEqual([2, 1, 2]);
  });

  it('report no execution as unsent that has just become due', async () => {
    await makePastes(world.db, 4, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 0 },
    });
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      createdSecondsAgo: 600,
      execution: { status: 'PENDING', dispatchedSecondsAgo: 300, dueSecondsAgo: 600 },
    });
    const { state, metrics } = janitor();
    const unsent = async () => {
      await state.read(running());
      return (await shown(metrics))['pasteflow_unsent_executions{kind="upload"}'];
    };
    const atFirst = await unsent();
    await sql`UPDATE task_executions SET run_at = now() - interval '11 seconds' WHERE dispatched_at IS NULL`.execute(
      world.db,
    );
    expect([atFirst, await unsent()]).toEqual([0, 4]);
  });

  it('include every state that is not terminal, and report 0 for an empty state', async () => {
    const { state, metrics } = janitor();
    await state.read(running());
    const entities = Object.entries(await shown(metrics)).filter(([name]) => name.includes('_entities{'));
    const open = machines.flatMap((machine: Machine) =>
      statesOf(machine)
        .filter((each) => !isTerminal(machine, each))
        .map((each) => `pasteflow_state_entities{machine="${machine.name}",state="${each}"}`),
    );
    expect(entities.map(([name]) => name).toSorted()).toEqual(open.toSorted());
    for (const [name, count] of entities)
      if (!name.includes('NOT_EXPIRED')) expect([name, count]).toEqual([name, 0]);
  });

  it('report the counts of SQS for each queue', async () => {
    for (const queue of [UPLOADS, UPLOADS, JOBS, `${JOBS}-dead-letters`])
      await callSqs(world.stack.aws.endpoint, 'SendMessage', queue, { MessageBody: 'x' });
    await callSqs(world.stack.aws.endpoint, 'SendMessage', UPLOADS, { MessageBody: 'x', DelaySeconds: 60 });
    await callSqs(world.stack.aws.endpoint, 'ReceiveMessage', JOBS, { VisibilityTimeout: 60 });
    const { state, metrics } = janitor();
    await state.read(running());
    const figures = await shown(metrics);
    const of = (queue: string) =>
      ['visible', 'in_flight', 'delayed'].map(
        (each) => figures[`pasteflow_queue_messages{queue="${queue}",state="${each}"}`],
      );
    expect(of('uploads')).toEqual([2, 0, 1]);
    expect(of('jobs')).toEqual([0, 1, 0]);
    expect(of('uploads_dead_letters')).toEqual([0, 0, 0]);
    expect(of('jobs_dead_letters')).toEqual([1, 0, 0]);
  });

  it('report the transitions and durations of the audit trail after they are measured', async () => {
    await makePastes(world.db, 3, { status: 'IN_PROGRESS', execution: { status: 'PENDING' } });
    await sql`UPDATE task_executions SET status = 'RUNNING', worker_id = 'w', started_at = now(), lease_expires_at = now()`.execute(
      world.db,
    );
    await createMeasure({ db: world.janitorDb }).runOnce(running());
    const { state, metrics } = janitor();
    await state.read(running());
    const figures = await shown(metrics);
    expect(figures).toMatchObject({
      'pasteflow_transitions_total{machine="task_execution",from="PENDING",to="RUNNING"}': 3,
      'pasteflow_transitions_total{machine="job",from="processing",to="partial"}': 0,
      'pasteflow_state_duration_seconds_bucket{le="3600",machine="task_execution",state="PENDING"}': 3,
      'pasteflow_state_duration_seconds_bucket{le="+Inf",machine="task_execution",state="PENDING"}': 3,
      'pasteflow_state_duration_seconds_count{machine="task_execution",state="PENDING"}': 3,
      'pasteflow_state_duration_seconds_count{machine="task_execution",state="RUNNING"}': 0,
    });
    expect(await metrics.text()).toContain('# TYPE pasteflow_state_duration_seconds histogram');
  });

  it('are read at their interval and not by a scrape; a failed reading keeps the last figures and is not a success', async () => {
    const { state, metrics } = janitor();
    const success = 'pasteflow_state_metrics_last_success_timestamp_seconds';
    expect(await shown(metrics)).not.toHaveProperty(success);
    await state.read(running());
    const before = await shown(metrics);
    expect(before[success]).toBeGreaterThan(Date.now() / 1000 - 60);
    world.proxy.requests.length = 0;
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: { status: 'PENDING' } });
    await shown(metrics);
    expect(world.proxy.requests).toEqual([]);
    const entities = 'pasteflow_state_entities{machine="paste_upload",state="IN_PROGRESS"}';
    expect((await shown(metrics))[entities]).toBe(0);

    world.proxy.rule({ method: 'POST' }, { kind: 'fail', status: 500 });
    const unavailable = { code: 'dependency_unavailable', dependency: 'sqs' };
    await expect(state.read(running())).rejects.toMatchObject(unavailable);
    const after = await shown(metrics);
    expect(after[entities]).toBe(1); // Postgres answers
    expect(after[success]).toBe(before[success]);
    expect(after['pasteflow_queue_messages{queue="uploads",state="visible"}']).toBe(0);
  });

  it('are dropped after four intervals without a reading, separately for Postgres and SQS', async () => {
    let nowMs = 1_000_000;
    const { state, metrics } = janitor(() => nowMs);
    const success = 'pasteflow_state_metrics_last_success_timestamp_seconds';
    const uncounted = 'pasteflow_transitions_uncounted_age_seconds';
    const entities = 'pasteflow_state_entities{machine="paste_upload",state="IN_PROGRESS"}';
    const queue = 'pasteflow_queue_messages{queue="uploads",state="visible"}';
    const queueAge = 'pasteflow_queue_oldest_age_seconds{queue="uploads"}';
    const all = { [success]: expect.any(Number), [uncounted]: 0, [entities]: 0, [queue]: 0, [queueAge]: 0 };
    await state.read(running());
    nowMs += 60_000;
    expect(await shown(metrics)).toMatchObject(all);

    world.proxy.rule({ method: 'POST' }, { kind: 'fail', status: 500 });
    await expect(state.read(running())).rejects.toMatchObject({ dependency: 'sqs' });
    nowMs += 1;
    const withoutQueues = await shown(metrics);
    expect(withoutQueues).toMatchObject({ [entities]: 0, [queueAge]: 0, [success]: expect.any(Number) });
    expect(withoutQueues).not.toHaveProperty([queue]);

    nowMs += 60_000;
    const withoutAny = Object.keys(await shown(metrics)).filter((name) => !name.includes('_dead_letters"'));
    expect(withoutAny).toEqual([success]);

    world.proxy.clear();
    await state.read(running());
    expect(await shown(metrics)).toMatchObject(all);
  });
});
