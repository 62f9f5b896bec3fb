import { describe, expect, it } from '@jest/globals';
import { cancelJob, createPaste } from '@pasteflow/postgres';
import type { JobContext } from '@pasteflow/jobs';
import { completed, jobType, until, useBench } from '../support/bench.ts';
import { newPaste } from '../support/database.ts';

const bench = useBench();

describe('a job', () => {
  it('goes from queued through processing to completed, and each transition is logged (J1, J2, J9)', async () => {
    const statusesDuringRun: string[] = [];
    const type = jobType('sum', async ({ jobId, parameters }) => {
      statusesDuringRun.push((await bench.job(jobId)).status);
      return { status: 'completed', result: { parameters, text: 'a\0b' } };
    });
    const id = await bench.submit('sum', { n: 7 }, { requestId: 'r-1' });
    const before = await bench.job(id);
    const worker = await bench.start([type]);
    const job = await bench.untilEnded(id);
    expect([before.status, ...statusesDuringRun, job.status]).toEqual(['queued', 'processing', 'completed']);
    expect(job).toMatchObject({
      progress: 100,
      result: { parameters: { n: 7 }, text: 'a\u{FFFD}b' },
      error_message: null,
      completed_at: expect.any(Date),
    });
    expect(await bench.transitions(id)).toEqual([
      'task_execution PENDING RUNNING',
      'job queued processing',
      'task_execution RUNNING SUCCEEDED',
      'job processing completed',
    ]);
    await bench.untilAcknowledged();
    await worker.stop();
    const ids = { job_id: id, job_type: 'sum', attempt: 1, request_id: 'r-1' };
    expect(worker.log.lines.filter(({ fields }) => fields.job_id === id)).toMatchObject([
      { level: 'info', message: 'job attempt started', fields: { ...ids, status: 'processing' } },
      { level: 'info', message: 'job attempt ended', fields: { ...ids, outcome: 'succeeded' } },
      { level: 'info', message: 'job ended', fields: { ...ids, status: 'completed' } },
    ]);
    const text = await worker.metrics.text();
    expect(text).toContain('jobs_ended_total{job_type="sum",status="completed",service="upload-worker"} 1');
    expect(text).toMatch(/job_attempts_total\{job_type="sum",outcome="succeeded",next_step="done",.*\} 1/);
  });

  it('whose work throws runs again after a wait, during which its worker runs other jobs', async () => {
    const order: string[] = [];
    const type = jobType('flaky', (context) => {
      const { name } = context.parameters as { name: string };
      order.push(name);
      if (name === 'first') throw new Error(`attempt ${order.length} fails`);
      return Promise.resolve(completed);
    });
    const first = await bench.submit('flaky', { name: 'first' });
    const worker = await bench.start([type], {
      // The second wait is longer than any machine takes for the other job.
      env: { JOB_CONCURRENCY: '1', JOB_RETRY_DELAYS_MS: '300,600000' },
    });
    await until(
      () => order.length,
      (length) => length === 2,
    );
    const second = await bench.submit('flaky', { name: 'second' });
    await bench.untilEnded(second);
    expect(order).toEqual(['first', 'first', 'second']);
    expect(await bench.attempts(first)).toEqual([
      [1, 'FAILED', 'internal: attempt 1 fails'],
      [2, 'FAILED', 'internal: attempt 2 fails'],
      [3, 'PENDING', null],
    ]);
    // While it waits, its worker keeps the messages of ended jobs.
    await cancelJob(bench.db, { jobId: first, actor: 'test', by: 'the test' });
    expect(worker.log.lines).toContainEqual({
      level: 'warn',
      message: 'job attempt failed',
      fields: expect.objectContaining({
        job_id: first,
        reason: 'internal: attempt 1 fails',
        error: expect.any(Error),
      }),
    });
  });

  it('with two messages runs once', async () => {
    let runs = 0;
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const type = jobType('once', async () => {
      runs += 1;
      begun.resolve();
      await end.promise;
      return completed;
    });
    const id = await bench.submit('once');
    await bench.send(id, '00000000-0000-7000-8000-000000000000');
    await bench.start([type], { env: { EXECUTION_LEASE_SECONDS: '3' } });
    await begun.promise;
    await until(
      () => bench.proxy.matching({ target: 'ChangeMessageVisibilityBatch' }).length,
      (returnedOrKept) => returnedOrKept > 1,
    );
    end.resolve();
    await bench.untilEnded(id);
    await bench.untilAcknowledged();
    expect(runs).toBe(1);
  });

  it('shows its progress while it runs, and ignores later progress with a warning (J4)', async () => {
    let late: JobContext<unknown> | undefined;
    const end = Promise.withResolvers<void>();
    const type = jobType('steps', async (context) => {
      late = context;
      context.progress(40.7, 'packing');
      context.progress(30);
      await end.promise;
      context.progress(99, 'nearly');
      return { status: 'partial', result: {}, error: 'some of it' };
    });
    const id = await bench.submit('steps');
    let writes = 0;
    const onStatement = ({ query }: { query: { sql: string } }) => {
      if (query.sql.includes('SET progress =')) writes += 1;
    };
    const worker = await bench.start([type], { overrides: { onStatement } });
    await until(
      () => bench.job(id),
      ({ progress, progress_message }) => progress === 40 && progress_message === 'packing',
    );
    end.resolve();
    expect(await bench.untilEnded(id)).toMatchObject({ progress: 100, progress_message: 'nearly' });
    const before = writes;
    late?.progress(5, 'too late');
    await worker.stop();
    expect(writes).toBe(before);
    expect(await bench.job(id)).toMatchObject({ progress: 100, progress_message: 'nearly' });
    expect(worker.log.lines).toContainEqual({
      level: 'warn',
      message: 'progress ignored; attempt already ended',
      fields: expect.objectContaining({ job_id: id }),
    });
  });

  it.each([
    ['small content inline', 'on', { contentBytes: Buffer.from('x').toString('base64') }],
    ['no content where messages may have none', 'off', {}],
  ])(
    'logs with its ids, and sends messages for its uploads with the request id, with %s',
    async (_, MESSAGE_CONTENT, small) => {
      const contents = new Map<string, Buffer>([
        [`small${MESSAGE_CONTENT}`, Buffer.from('x')],
        [`large${MESSAGE_CONTENT}`, Buffer.alloc(44 * 1024 + 1)],
      ]);
      const type = jobType('make', async ({ logger, services }) => {
        logger.info('making', { count: contents.size });
        for (const [shortCode, content] of contents) {
          const paste = await createPaste(bench.db, newPaste(shortCode, content)); // the role of the worker may not
          services.dispatchUploads([{ executionId: paste!.executionId, shortCode, content }]);
        }
        return {
          status: 'completed',
          result: { most: services.maxPasteBytes, code: services.newShortCode() },
        };
      });
      const id = await bench.submit('make', {}, { requestId: 'r-9' });
      const env = { UPLOAD_WORKER_QUEUES: 'uploads,jobs', MAX_PASTE_BYTES: '12345', MESSAGE_CONTENT };
      const worker = await bench.start([type], { env });
      expect((await bench.untilEnded(id)).result).toEqual({
        most: 12345,
        code: expect.stringMatching(/^\w{10}$/),
      });
      const processed = bench.db.selectFrom('pastes').select('short_code').where('status', '=', 'PROCESSED');
      await until(
        () => processed.where('short_code', 'in', [...contents.keys()]).execute(),
        ({ length }) => length === contents.size,
      );
      const messages = bench.proxy
        .matching({ target: 'SendMessageBatch' })
        .flatMap(({ body }) => JSON.parse(String(body)).Entries as Entry[]);
      // A request whose answer takes too long is sent again, with the same messages.
      const bodies = new Set(messages.map(({ MessageBody }) => MessageBody));
      expect(
        [...bodies]
          .map((body) => JSON.parse(body) as { shortCode: string })
          .filter(({ shortCode }) => contents.has(shortCode)),
      ).toEqual([
        { shortCode: `small${MESSAGE_CONTENT}`, ...small },
        { shortCode: `large${MESSAGE_CONTENT}` },
      ]);
      for (const { MessageAttributes } of messages)
        expect(MessageAttributes.requestId?.StringValue).toBe('r-9');
      expect(worker.log.lines).toContainEqual({
        level: 'info',
        message: 'making',
        fields: expect.objectContaining({
          job_id: id,
          job_type: 'make',
          attempt: 1,
          request_id: 'r-9',
          count: 2,
        }),
      });
    },
  );
});

interface Entry {
  readonly MessageBody: string;
  readonly MessageAttributes: { readonly requestId?: { readonly StringValue: string } };
}
