import { describe, expect, it } from '@jest/globals';
import { ExecutionTakenError } from '@pasteflow/domain';
import type { JobContext } from '@pasteflow/jobs';
import { claimExecutions, jobSubject, settleExecutions } from '@pasteflow/postgres';
import { queueDepth } from '@pasteflow/sqs';
import { completed, jobType, until, untilAborted, useBench } from '../support/bench.ts';
import { endAsLost } from '../support/reap.ts';

const bench = useBench();
const heartbeats = { EXECUTION_LEASE_SECONDS: '3' };

const assetsOf = (jobId: string) =>
  bench.db.selectFrom('assets').selectAll().where('job_id', '=', jobId).execute();
const asset = { assetType: 'archive', storagePath: 'jobs/x/y.zip', fileSize: 1 };

/**
 * A job type whose first attempt resolves `begun` with its context and then runs `first`. Further attempts
 * complete.
 */
function firstAttempt(first: (context: JobContext<unknown>) => Promise<never>) {
  const begun = Promise.withResolvers<JobContext<unknown>>();
  let attempts = 0;
  const type = jobType('long', (context) => {
    attempts += 1;
    if (attempts > 1) return Promise.resolve(completed);
    begun.resolve(context);
    return first(context);
  });
  return { type, begun: begun.promise };
}

describe('a worker that loses a job', () => {
  it('aborts the work at the next heartbeat after another process has ended the execution, and writes nothing more', async () => {
    const { type, begun } = firstAttempt(({ signal }) => untilAborted(signal));
    const id = await bench.submit('long');
    const worker = await bench.start([type], { env: heartbeats });
    const context = await begun;
    await endAsLost(bench, [{ executionId: context.executionId, attempt: 1, losses: 0 }]);
    await until(
      () => context.signal.aborted,
      (aborted) => aborted,
    );
    context.progress(77, 'a zombie');
    await expect(context.createAsset(asset)).rejects.toThrow(ExecutionTakenError);
    expect(await bench.untilEnded(id)).toMatchObject({ status: 'completed', progress_message: null });
    expect(await assetsOf(id)).toEqual([]);
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', 'worker lost'],
      [1, 'SUCCEEDED', null],
    ]);
    const messages = worker.log.lines.map(({ message }) => message);
    expect(messages).toContain('lease lost; attempt dropped');
    expect(messages).toContain('job already settled by another process; outcome ignored');
    expect(await worker.metrics.text()).toMatch(/job_leases_lost_total\{.*\} 1/);
  });

  it('settles nothing when a write of the work is refused, and claims the next attempt, which may have no message of its own', async () => {
    const unsent = { db: bench.db, send: () => Promise.resolve() };
    const { type, begun } = firstAttempt(async (context) => {
      await endAsLost(unsent, [{ executionId: context.executionId, attempt: 1, losses: 0 }]);
      await context.createAsset(asset);
      throw new Error('not reached');
    });
    const id = await bench.submit('long');
    const worker = await bench.start([type]);
    await begun;
    await bench.untilEnded(id);
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', 'worker lost'],
      [1, 'SUCCEEDED', null],
    ]);
    expect(worker.log.lines.map(({ message }) => message)).not.toContain('job attempt failed');
  });

  it('changes nothing by an outcome that comes after another process has ended the execution', async () => {
    const go = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<string>();
    let attempts = 0;
    const type = jobType('late', async ({ executionId }) => {
      attempts += 1;
      const attempt = attempts;
      if (attempt === 1) {
        begun.resolve(executionId);
        await go.promise;
      }
      return { status: 'completed', result: { attempt } };
    });
    const id = await bench.submit('late');
    await bench.start([type]);
    await endAsLost(bench, [{ executionId: await begun.promise, attempt: 1, losses: 0 }]);
    expect(await bench.untilEnded(id)).toMatchObject({ result: { attempt: 2 } });
    go.resolve();
    await bench.untilAcknowledged();
    expect(await bench.job(id)).toMatchObject({ result: { attempt: 2 } });
    expect((await bench.transitions(id)).filter((step) => step.startsWith('job '))).toEqual([
      'job queued processing',
      'job processing completed',
    ]);
  });

  it('abandons work that ignores its abort signal, and takes the next message', async () => {
    const { type, begun } = firstAttempt(() => new Promise<never>(() => {}));
    const id = await bench.submit('long');
    const worker = await bench.start([type], { env: { ...heartbeats, JOB_CONCURRENCY: '1' } });
    const { executionId } = await begun;
    await endAsLost(bench, [{ executionId, attempt: 1, losses: 0 }]);
    expect((await bench.untilEnded(id)).status).toBe('completed');
    expect(worker.log.lines).toContainEqual({
      level: 'error',
      message: 'job ignored its abort signal; abandoned',
      fields: expect.objectContaining({ execution_id: executionId }),
    });
  });
});

describe('a worker that is stopped', () => {
  it('interrupts a job that does not end in time, spends no attempt, and returns the message at once', async () => {
    const { type, begun } = firstAttempt(({ signal, progress }) => {
      progress(10, 'begun');
      progress(25, 'further');
      return untilAborted(signal);
    });
    const id = await bench.submit('long');
    const worker = await bench.start([type], { overrides: { stopGraceMs: 100 } });
    await begun;
    await worker.stop();
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', 'interrupted'],
      [1, 'PENDING', null],
    ]);
    expect(await bench.job(id)).toMatchObject({
      status: 'processing',
      progress: 25,
      progress_message: 'further',
    });
    expect(await queueDepth(bench.sqs, bench.jobs)).toBe(1);
    await bench.start([type]);
    expect((await bench.untilEnded(id)).status).toBe('completed');
    expect((await bench.attempts(id)).map(([attempt]) => attempt)).toEqual([1, 1]);
  });

  it('lets a job end that ends in time', async () => {
    const end = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const type = jobType('short', async () => {
      begun.resolve();
      await end.promise;
      return completed;
    });
    const id = await bench.submit('short');
    const worker = await bench.start([type]);
    await begun.promise;
    const stopping = worker.stop();
    end.resolve();
    await stopping;
    expect((await bench.job(id)).status).toBe('completed');
    expect(await queueDepth(bench.sqs, bench.jobs)).toBe(0);
  });

  it('lets work that can go on elsewhere commit what it has and end at once', async () => {
    const { type, begun } = firstAttempt(async ({ stopping, createAsset }) => {
      await untilAborted(stopping).catch(() => {});
      await createAsset({ ...asset, archive: { number: 1, checkpoint: {} } });
      throw stopping.reason as Error;
    });
    const id = await bench.submit('long');
    // Longer than the test: nothing else ends the attempt.
    const worker = await bench.start([type], { overrides: { stopGraceMs: 600_000 } });
    await begun;
    await worker.stop();
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', 'interrupted'],
      [1, 'PENDING', null],
    ]);
    expect(await assetsOf(id)).toMatchObject([{ number: 1 }]);
    await bench.start([type]);
    await bench.untilEnded(id);
  });

  it('ends a job at the tenth stop in which it made nothing, and says so', async () => {
    const { type, begun } = firstAttempt(({ signal }) => untilAborted(signal));
    const id = await bench.submit('long');
    for (let stops = 1; stops < 10; stops += 1) await interruptOnce(id);
    const worker = await bench.start([type], { overrides: { stopGraceMs: 100 } });
    await begun;
    await worker.stop();
    expect(await bench.job(id)).toMatchObject({
      status: 'failed',
      error_message: 'interrupted: its workers were stopped 10 times before they could make anything more',
    });
    expect((await bench.attempts(id)).at(-1)).toEqual([1, 'FAILED', 'interrupted']);
    expect(await queueDepth(bench.sqs, bench.jobs)).toBe(0);
  });

  it('does not wait for work that ignores its abort signal', async () => {
    const { type, begun } = firstAttempt(() => new Promise<never>(() => {}));
    const id = await bench.submit('long');
    const worker = await bench.start([type], { overrides: { stopGraceMs: 100 } });
    await begun;
    await worker.stop();
    expect((await bench.attempts(id))[0]).toEqual([1, 'FAILED', 'interrupted']);
    await bench.start([type]);
    await bench.untilEnded(id);
  });
});

/** As a worker that stops does. */
async function interruptOnce(jobId: string): Promise<void> {
  const by = { actor: 'upload-worker/test', leaseSeconds: 60 };
  const claim = (await claimExecutions(bench.db, jobSubject, { keys: [jobId], ...by })).get(jobId);
  if (claim?.kind !== 'claimed') throw new Error('the job was not claimed');
  const { executionId } = claim.execution;
  const outcome = { kind: 'interrupted' } as const;
  const nextStep = { kind: 'retry', attempt: 1, delayMs: 0 } as const;
  await settleExecutions(bench.db, jobSubject, [{ executionId, outcome, nextStep, ending: null }], {
    actor: by.actor,
    dispatched: true,
  });
}
