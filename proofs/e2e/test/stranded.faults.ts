import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runOps, startCluster, type Cluster, type User } from '../src/index.ts';

let cluster: Cluster;
let alice: User;
beforeAll(async () => {
  cluster = await startCluster({ env: { SWEEP_INTERVALS: 'rescue-stranded=1' } });
  alice = await cluster.user('alice');
});
afterAll(() => cluster.stop());

/** What an operator could type into psql. The state machines allow it. */
const END_BY_HAND = `UPDATE task_executions SET status = 'FAILED', error = 'ended by hand', finished_at = now(), lease_expires_at = NULL
  WHERE status = 'RUNNING'`;

/** Content that does not fit into a message: each attempt reads the payload. */
const content = randomBytes(60_000);

/** A paste whose first put waits for the test. */
async function uploading() {
  const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
  const paste = await cluster.client().pastes.create(content);
  return { code: paste.short_code, put: await holding };
}

describe('after somebody ended a running execution with psql', () => {
  it('the paste gets another one and is stored, and its timeline says who rescued it, and why', async () => {
    const { code, put } = await uploading();
    await cluster.rows.query(END_BY_HAND);
    put.drop();
    await cluster.untilStatus(code, 'PROCESSED');
    expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
    expect(await cluster.executions(code)).toMatchObject([
      { attempt: 1, status: 'FAILED', error: 'ended by hand' },
      { attempt: 1, status: 'SUCCEEDED' },
    ]);
    expect(await runOps(cluster, 'timeline', code)).toMatch(
      /attempt 1 +rescued +janitor\/\S+ +stranded: no open execution; the last one ended FAILED: ended by hand/,
    );
    await cluster.expectQuiet();
  });

  it('and deleted the payload, the paste is FAILED when S3 has no object', async () => {
    const { code, put } = await uploading();
    await cluster.rows.query(`${END_BY_HAND}; DELETE FROM paste_payloads`);
    put.drop();
    expect(await cluster.untilStatus(code, 'FAILED')).toMatchObject({
      failure_reason: 'content damaged: its payload is missing',
    });
    expect(await cluster.http().read(code)).toMatchObject({ status: 404 });
    await cluster.expectQuiet();
  });

  it('and deleted the payload, the paste is PROCESSED when S3 has its object', async () => {
    const { code, put } = await uploading();
    await cluster.rows.query(`${END_BY_HAND}; DELETE FROM paste_payloads`);
    await put.forward();
    await cluster.untilStatus(code, 'PROCESSED');
    expect((await cluster.http().read(code)).body.equals(content)).toBe(true);
    await cluster.expectQuiet();
  });
});

it('a job whose execution somebody deleted with psql is completed', async () => {
  const worker = cluster.workers[0]!;
  worker.signal('SIGSTOP');
  const { job_id: id } = await alice.jobs.create({
    job_type: 'import',
    parameters: { items: [{ content: 'one' }, { content: 'two' }] },
  });
  await cluster.rows.query(`DELETE FROM task_executions WHERE subject_id = $1`, [id]);
  worker.signal('SIGCONT');
  expect(await alice.jobs.wait(id)).toMatchObject({ status: 'completed' });
  await cluster.expectQuiet();
});
