import { spawnService } from '@pasteflow/dev-stack/testing';
import { changePaste, claimExecutions, uploadSubject } from '@pasteflow/postgres';
import { makeJobs, makePastes } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { callSqs, drain, messagesLeft, sendRaw } from './messages.ts';
import { useWorld, JOBS, UPLOADS } from './world.ts';

const world = useWorld();

const ops = (...args: string[]) => runOpsCommand(args, world.env);
async function answer<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await ops(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
}

describe('ops timeline', () => {
  it('shows a paste that the api no longer serves, by code and by URL, with a change made in psql', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED', shortCodes: ['gone'] });
    await world.db.connection().execute(async (psql) => {
      await sql`SET application_name = 'psql'`.execute(psql);
      await sql`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now() WHERE id = ${paste!.id}`.execute(
        psql,
      );
      await sql`SET application_name = 'janitor-test'`.execute(psql);
    });
    const timeline = await answer<{ subject: object; transitions: object[]; executions: object[] }>(
      'timeline',
      'https://paste.example/gone',
    );
    expect(timeline.subject).toMatchObject({
      kind: 'paste',
      short_code: 'gone',
      status: 'PROCESSED',
      deletion_status: 'DELETION_IN_PROGRESS',
    });
    expect(timeline.transitions).toEqual([
      {
        machine: 'paste_deletion',
        entity: paste!.id,
        from: 'NOT_EXPIRED',
        to: 'DELETION_IN_PROGRESS',
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        actor: expect.stringMatching(/ \(psql\)$/),
        reason: null,
      },
    ]);
    expect(timeline.executions).toMatchObject([{ attempt: 1, status: 'SUCCEEDED' }]);
    const { stdout } = await ops('timeline', 'gone');
    expect(stdout).toContain(`paste gone (${paste!.id}), 15 bytes, created `);
    expect(stdout).toMatch(/paste_deletion +NOT_EXPIRED → DELETION_IN_PROGRESS +\S+ \(psql\)$/m);
    expect(stdout).not.toContain('made for a test');
  });

  it('numbers the attempts, and shows the worker of the running attempt', async () => {
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      shortCodes: ['going'],
      execution: { status: 'PENDING', attempt: 3, dispatchedSecondsAgo: 1 },
    });
    await claimExecutions(world.db, uploadSubject, {
      keys: ['going'],
      actor: 'upload-worker/a',
      leaseSeconds: 6,
    });
    const { stdout } = await ops('timeline', 'going');
    expect(stdout).toMatch(/attempt 3 +PENDING → RUNNING +upload-worker\/a +claimed$/m);
    expect(stdout).toMatch(/^ +3 +RUNNING +upload-worker\/a /m);
  });

  it('shows a job by its id, without the parameters that its owner gave', async () => {
    const [job] = await makeJobs(world.db, 1, {
      userId: world.userId,
      status: 'completed',
      parameters: { items: [{ content: 'a secret' }] },
    });
    const { stdout } = await ops('timeline', job!.id);
    expect(stdout).toContain(`job ${job!.id}, import, created `);
    expect(stdout).not.toContain('a secret');
    expect((await ops('timeline', job!.id, '--json')).stdout).not.toContain('a secret');
  });

  it('shows which fields were changed, with the values of readers and expiry alone', async () => {
    const shape = { status: 'PROCESSED', shortCodes: ['changed'], userId: world.userId } as const;
    const [paste] = await makePastes(world.db, 1, shape);
    const by = { userId: world.userId, deleteTokenHash: null, actor: 'api/test' };
    await changePaste(world.db, paste!.id, { title: 'secret words', visibility: 'private' }, by);
    const { stdout } = await ops('timeline', 'changed');
    expect(stdout).toMatch(/^\S+ +title +owner, \S+ \(api\/test\)$/m);
    expect(stdout).toMatch(/^\S+ +visibility +unlisted +private +owner, \S+ \(api\/test\)$/m);
    expect(stdout).not.toContain('secret words');
  });

  it('exits with 1 when there is no such paste or job', async () => {
    expect(await ops('timeline', 'nothing')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'ops: there is no paste nothing\n',
    });
    expect((await ops('timeline', world.userId)).stderr).toBe(
      `ops: there is no job or delivery ${world.userId}\n`,
    );
  });
});

describe('ops retry-dead-letters', () => {
  const DEAD = `${UPLOADS}-dead-letters`;
  const message = (shortCode: string) => JSON.stringify({ shortCode });

  it('moves every message unchanged to its own queue, and leaves and lists the messages that no worker can read', async () => {
    const [job] = await makeJobs(world.db, 1, { userId: world.userId, status: 'queued' });
    const uploads = Array.from({ length: 23 }, (_, n) => message(`code${n}`));
    await send(DEAD, ...uploads, 'secret, not JSON');
    await send(`${JOBS}-dead-letters`, JSON.stringify({ jobId: job!.id }));

    const { queues } = await answer<{ queues: object[] }>('retry-dead-letters');
    expect(queues).toEqual([
      {
        queue: DEAD,
        moved: 23,
        refused: 0,
        unreadable: [
          { message_id: expect.stringMatching(/^[\da-f-]{36}$/), reason: 'Not an upload message: not JSON' },
        ],
      },
      { queue: `${JOBS}-dead-letters`, moved: 1, refused: 0, unreadable: [] },
    ]);
    expect((await drain(world, UPLOADS)).toSorted()).toEqual(uploads.toSorted());
    expect(await drain(world, JOBS)).toEqual([JSON.stringify({ jobId: job!.id })]);
    expect(await drain(world, DEAD)).toEqual(['secret, not JSON']); // visible again at once
    expect(await messagesLeft(world, `${JOBS}-dead-letters`)).toBe(0);
  });

  it('keeps the context of the request in a message', async () => {
    const MessageAttributes = { requestId: { DataType: 'String', StringValue: 'abc' } };
    await callSqs(world.stack.aws.endpoint, 'SendMessage', DEAD, {
      MessageBody: message('one'),
      MessageAttributes,
    });
    expect((await ops('retry-dead-letters')).stdout).toMatch(new RegExp(`^${DEAD} +1 +0 +0$`, 'm'));
    const { Messages } = await callSqs<{ Messages: object[] }>(
      world.stack.aws.endpoint,
      'ReceiveMessage',
      UPLOADS,
      {
        MessageAttributeNames: ['All'],
      },
    );
    expect(Messages).toMatchObject([{ Body: message('one'), MessageAttributes }]);
    const [received] = world.proxy.matching({ target: 'ReceiveMessage' });
    // SQS returns attributes only on request
    expect(JSON.parse(String(received!.body))).toMatchObject({ MessageAttributeNames: ['All'] });
  });

  it('leaves the messages in the dead-letter queue when SQS accepts none', async () => {
    await send(DEAD, message('one'), message('two'));
    world.proxy.rule({ target: 'SendMessageBatch' }, { kind: 'fail', status: 500 });
    const { code, stderr } = await ops('retry-dead-letters');
    expect([code, stderr]).toEqual([1, 'ops: sqs does not answer at the moment; try again shortly.\n']);
    expect([await messagesLeft(world, DEAD), await messagesLeft(world, UPLOADS)]).toEqual([2, 0]);
  });

  it('leaves a message in both queues, never in none, when it is killed between sending and deleting', async () => {
    await send(DEAD, message('one'));
    const holding = world.proxy.hold({ target: 'DeleteMessageBatch' });
    const child = spawnOps(['retry-dead-letters'], world.env);
    const held = await holding;
    child.kill('SIGKILL');
    await child.exited;
    held.drop();
    expect([await messagesLeft(world, DEAD), await messagesLeft(world, UPLOADS)]).toEqual([1, 1]);
  });
});

const spawnOps = (args: string[], env: Readonly<Record<string, string>>) =>
  spawnService({ entry: new URL('../src/ops-main.ts', import.meta.url).pathname, args, env });

const send = (queue: string, ...bodies: string[]) => sendRaw(world, queue, ...bodies);
