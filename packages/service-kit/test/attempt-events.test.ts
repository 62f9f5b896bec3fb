import { beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics, type LogFields, type Logger } from '@pasteflow/runtime';
import { deliveryAttemptEvents, jobAttemptEvents, uploadAttemptEvents } from '../src/index.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

const lines: Line[] = [];
const write = (level: string) => (message: string, fields?: LogFields) =>
  void lines.push({ level, message, fields });
const logger: Logger = {
  error: write('error'),
  warn: write('warn'),
  info: write('info'),
  debug: write('debug'),
  child: () => logger,
};

beforeEach(() => {
  lines.length = 0;
});

const upload = { shortCode: 'abc', executionId: 'e1', attempt: 6 };
const job = { jobId: 'j1', jobType: 'import', executionId: 'e2', attempt: 1 };
const delivery = { deliveryId: 'd1', endpointId: 'w1', executionId: 'e3', attempt: 6 };
const lost = { kind: 'lost', error: 'worker lost' } as const;
const giveUp = { kind: 'give_up', reason: '6 attempts failed' } as const;
const retry = { kind: 'retry', attempt: 2, delayMs: 0 } as const;
const done = { kind: 'done' } as const;

/** The samples of the counters, without their comments and the label of the service. */
async function counted(metrics: Metrics): Promise<string[]> {
  const text = (await metrics.text()).replaceAll(/,?service="[^"]+"/g, '');
  return text.split('\n').filter((line) => /^(upload|job|webhook)/.test(line) && !line.endsWith(' 0'));
}

it.each(['upload-worker', 'janitor'])('has the same names and labels in %s', async (service) => {
  const metrics = new Metrics(service, { process: false });
  const uploads = uploadAttemptEvents(logger, metrics);
  const jobs = jobAttemptEvents(logger, metrics);
  const deliveries = deliveryAttemptEvents(logger, metrics);
  uploads.started(upload);
  uploads.ended(upload, { outcome: lost, nextStep: giveUp, status: 'FAILED' });
  jobs.started(job);
  jobs.ended(job, { outcome: lost, nextStep: retry, status: 'processing' });
  jobs.ended(job, { outcome: { kind: 'succeeded' }, nextStep: done, status: 'completed' });
  deliveries.started(delivery);
  deliveries.ended(delivery, { outcome: lost, nextStep: giveUp, status: 'FAILED' });
  expect(await counted(metrics)).toEqual([
    'upload_attempts_started_total{} 1',
    'upload_attempts_total{outcome="lost",next_step="give_up"} 1',
    'uploads_ended_total{status="FAILED"} 1',
    'job_attempts_started_total{job_type="import"} 1',
    'job_attempts_total{job_type="import",outcome="lost",next_step="retry"} 1',
    'job_attempts_total{job_type="import",outcome="succeeded",next_step="done"} 1',
    'jobs_ended_total{job_type="import",status="completed"} 1',
    'webhook_attempts_started_total{} 1',
    'webhook_attempts_total{outcome="lost",next_step="give_up"} 1',
    'webhook_deliveries_ended_total{status="FAILED"} 1',
  ]);
});

describe('the log', () => {
  const metrics = () => new Metrics('test', { process: false });

  it('has one line at info for an upload that is stored', () => {
    const events = uploadAttemptEvents(logger, metrics());
    events.started(upload, { request_id: 'r1' });
    const outcome = { kind: 'succeeded' } as const;
    events.ended(upload, { outcome, nextStep: done, status: 'PROCESSED' }, { request_id: 'r1' });
    const ids = { short_code: 'abc', execution_id: 'e1', attempt: 6, request_id: 'r1' };
    expect(lines).toEqual([
      { level: 'debug', message: 'upload attempt started', fields: { ...ids, status: 'IN_PROGRESS' } },
      {
        level: 'info',
        message: 'upload attempt ended',
        fields: { ...ids, outcome: 'succeeded', next_step: 'done' },
      },
      { level: 'debug', message: 'upload ended', fields: { ...ids, status: 'PROCESSED' } },
    ]);
  });

  it('warns of an attempt that failed, with the reason, and of an upload that ends FAILED', () => {
    const events = uploadAttemptEvents(logger, metrics());
    events.ended(upload, { outcome: lost, nextStep: giveUp, status: 'FAILED' });
    expect(lines).toMatchObject([
      { level: 'warn', message: 'upload attempt failed', fields: { outcome: 'lost', reason: 'worker lost' } },
      { level: 'warn', message: 'upload ended', fields: { short_code: 'abc', status: 'FAILED' } },
    ]);
  });

  it('names a delivery of a webhook by its ids', () => {
    const events = deliveryAttemptEvents(logger, metrics());
    events.ended(delivery, { outcome: lost, nextStep: giveUp, status: 'FAILED' });
    const ids = { delivery_id: 'd1', endpoint_id: 'w1', execution_id: 'e3', attempt: 6 };
    expect(lines).toMatchObject([
      { level: 'warn', message: 'webhook attempt failed', fields: ids },
      { level: 'warn', message: 'webhook delivery ended', fields: { ...ids, status: 'FAILED' } },
    ]);
  });

  it('warns of no job that was interrupted or yields, has no line about its end while an attempt follows, and none when plain SQL has ended it', () => {
    const events = jobAttemptEvents(logger, metrics());
    events.ended(job, { outcome: { kind: 'interrupted' }, nextStep: retry, status: 'processing' });
    events.ended(job, {
      outcome: { kind: 'yielded', delayMs: 1 },
      nextStep: retry,
      status: 'processing',
    });
    events.ended(job, { outcome: { kind: 'succeeded' }, nextStep: done, status: 'processing' });
    expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual(
      Array.from({ length: 3 }, () => 'info job attempt ended'),
    );
  });

  it('has the duration and the thrown error of a failed attempt', () => {
    const events = jobAttemptEvents(logger, metrics());
    const error = new Error('broken');
    const outcome = { kind: 'failed', error: 'broken', cause: error } as const;
    events.ended(job, { outcome, nextStep: retry, status: 'processing', seconds: 2 });
    expect(lines).toMatchObject([{ level: 'warn', fields: { seconds: 2, error, reason: 'broken' } }]);
  });
});
