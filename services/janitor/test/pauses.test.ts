import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addWorkKinds } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { deadLetterQueueName, createQueue, queueCounts, sendUploads } from '@pasteflow/sqs';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { createDeadLetters } from '../src/sweeps/dead-letters.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { DeadLetterAges } from '../src/sweeps/running/findings.ts';
import { openPage, type OpenPage } from './page/open-page.ts';
import { createWorld, running, UPLOADS, type World } from './world.ts';

let world: World;
let page: OpenPage;
beforeAll(async () => {
  world = await createWorld();
  page = await openPage(world);
});
afterAll(async () => {
  await page.stop();
  await world.stop();
});
beforeEach(async () => {
  await world.reset();
  await sql`DELETE FROM work_kinds WHERE kind <> 'uploads'`.execute(world.db);
  await sql`UPDATE work_kinds SET paused_at = NULL, paused_by = NULL, pause_reason = NULL, resumed_at = NULL`.execute(
    world.db,
  );
  await addWorkKinds(world.db, ['export', 'own-type']);
});

const ops = (...args: string[]) => runOpsCommand(args, world.env);
const why = ['--reason', 'S3 is being moved'];

const recorded = () =>
  world.db
    .selectFrom('operator_actions')
    .select(['action', 'subject', 'reason', 'outcome'])
    .orderBy('id')
    .execute();

describe('ops pause and resume', () => {
  it('take a type of jobs of an own build, too, and are recorded', async () => {
    expect(await ops('pause', 'own-type', ...why)).toMatchObject({ code: 0, stdout: 'Paused own-type.\n' });
    const actor = /ops\/\S+@\S+/.source;
    const line = new RegExp(String.raw`^own-type +20\S+ +${actor} +S3 is being moved$`, 'm');
    const listed = (await ops('pauses')).stdout;
    expect(listed).toMatch(line);
    expect(listed).toMatch(/^uploads +- +- +-$/m);
    const { stdout } = await ops('status');
    expect(stdout).toMatch(/^- own-type paused since 20\S+ by ops\/\S+@\S+: S3 is being moved\.$/m);
    expect(stdout).not.toMatch(/^export /m);
    expect(JSON.parse((await ops('pauses', '--json')).stdout)).toMatchObject([
      { kind: 'export', paused_at: null },
      { kind: 'own-type', pause_reason: 'S3 is being moved' },
      { kind: 'uploads' },
    ]);
    expect(await ops('resume', 'own-type')).toMatchObject({ code: 0, stdout: 'Resumed own-type.\n' });
    expect((await ops('status')).stdout).not.toContain('own-type');
    expect(await recorded()).toEqual([
      { action: 'pause', subject: 'own-type', reason: 'S3 is being moved', outcome: 'Paused own-type.' },
      { action: 'resume', subject: 'own-type', reason: 'no reason given', outcome: 'Resumed own-type.' },
    ]);
  });

  it('refuse an unknown kind with the list of the kinds', async () => {
    const told = 'there is no kind of work upload; the kinds are export, own-type, uploads';
    expect((await ops('pause', 'upload', ...why)).stderr).toContain(told);
    expect((await ops('resume', 'upload')).stderr).toContain(told);
  });

  it('tell the second of two operators', async () => {
    const paused = await Promise.all([
      ops('pause', 'uploads', ...why),
      ops('pause', 'uploads', '--reason', 'mine'),
    ]);
    const [winner, loser] = paused.toSorted((a, b) => a.code - b.code);
    expect([winner!.code, loser!.code]).toEqual([0, 1]);
    expect(loser!.stderr).toMatch(
      /uploads is paused already, since 20\S+ by ops\/\S+: (S3 is being moved|mine)\n/,
    );
    const resumed = await Promise.all([ops('resume', 'uploads'), ops('resume', 'uploads')]);
    expect(resumed.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(resumed.find(({ code }) => code === 1)!.stderr).toContain('uploads is not paused');
  });
});

describe('the operations page', () => {
  it('pauses and resumes a kind, and shows which are paused', async () => {
    expect((await page.call('/confirm/pause?subject=uploads')).body).toContain('This pauses 1 kind of work.');
    expect(await page.act('pause', 'uploads')).toBe('Paused uploads.');
    const overview = (await page.call('/')).body;
    expect(overview).toMatch(/<strong class="bad-news">paused since 20/);
    expect(overview).toContain('href="/confirm/resume?subject=uploads"');
    expect(overview).toContain('href="/confirm/pause?subject=export"');
    const again = (await page.call('/confirm/pause?subject=uploads')).body;
    expect(again).toContain('uploads is paused already, since');
    expect(again).not.toContain('method="post"');
    expect(await page.act('pause', 'uploads')).toMatch(/^Failed: uploads is paused already/);
    expect(await page.act('resume', 'uploads')).toBe('Resumed uploads.');
    expect((await page.call('/confirm/resume?subject=uploads')).body).toContain('uploads is not paused.');
    expect((await page.call('/confirm/pause?subject=mail')).body).toContain(
      'there is no kind of work mail; the kinds are export, own-type, uploads',
    );
  });
});

describe('while uploads are paused', () => {
  const uploads = () => createQueue(world.sqs, UPLOADS);
  const deadLetters = () => createQueue(world.sqs, deadLetterQueueName(UPLOADS));

  it('the relay sends what was never sent, and nothing again', async () => {
    await makePastes(world.db, 3, {
      status: 'IN_PROGRESS',
      createdSecondsAgo: 600,
      execution: { status: 'PENDING', dispatchedSecondsAgo: 600 },
    });
    await makePastes(world.db, 2, {
      status: 'IN_PROGRESS',
      createdSecondsAgo: 600,
      execution: { status: 'PENDING' },
    });
    await sql`UPDATE task_executions SET run_at = now() - interval '600 seconds'`.execute(world.db);
    await ops('pause', 'uploads', ...why);
    const relay = createRelay({
      queues: world.queues,
      relayGraceSeconds: 2,
      relayRedispatchAfterSeconds: 30,
    });
    for (let run = 0; run < 3; run += 1) await relay.runOnce(running());
    expect(await queueCounts(world.sqs, uploads())).toMatchObject({ visible: 2 });
    await sql`UPDATE work_kinds SET paused_at = NULL, paused_by = NULL, pause_reason = NULL, resumed_at = now() - interval '31 seconds'`.execute(
      world.db,
    );
    await relay.runOnce(running());
    expect(await queueCounts(world.sqs, uploads())).toMatchObject({ visible: 5 });
  });

  it('a dead letter still ends its execution, and the message of the next waits for the resume', async () => {
    const [paste] = await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dispatchedSecondsAgo: 0 },
    });
    await ops('pause', 'uploads', ...why);
    await sendUploads(world.sqs, deadLetters(), [
      { executionId: paste!.executionId, shortCode: paste!.shortCode, content: null, context: {} },
    ]);
    const sweep = createDeadLetters({
      sqs: world.sqs,
      queues: world.queues,
      actor: 'janitor/test',
      leaseSeconds: 6,
      deadLetterAges: new DeadLetterAges(),
      random: () => 0,
      logger: world.log,
    });
    expect(await sweep.runOnce(running())).toMatchObject({ failed: 1, given_up: 0 });
    expect(await queueCounts(world.sqs, deadLetters())).toMatchObject({ visible: 0, inFlight: 0 });
    const executions = await world.db
      .selectFrom('task_executions')
      .select(['status', 'attempt', 'losses'])
      .orderBy('created_at')
      .execute();
    expect(executions).toEqual([
      { status: 'FAILED', attempt: 1, losses: 0 },
      { status: 'PENDING', attempt: 1, losses: 1 },
    ]);
  });
});
