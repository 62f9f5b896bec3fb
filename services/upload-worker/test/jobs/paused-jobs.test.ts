import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { listWorkKinds, pauseKind, resumeKind } from '@pasteflow/postgres';
import { queueCounts } from '@pasteflow/sqs';
import { completed, jobType, until, useBench } from '../support/bench.ts';

const bench = useBench();
const by = { actor: 'ops/test', reason: 'a test' };

const begun: string[] = [];
const noted = (name: string) =>
  jobType(name, ({ jobId }) => {
    begun.push(jobId);
    return Promise.resolve(completed);
  });

const receives = () => bench.proxy.matching({ target: 'ReceiveMessage' }).length;

describe('a paused type of jobs', () => {
  it('waits with its message while another type runs, and runs after the resume', async () => {
    const types = [noted('slow'), noted('fast')];
    const first = await bench.start(types);
    await until(
      () => listWorkKinds(bench.db),
      (kinds) => kinds.map(({ kind }) => kind).join(' ') === 'fast slow uploads webhooks',
    );
    await pauseKind(bench.db, 'slow', by);
    const waiting = [await bench.submit('slow'), await bench.submit('slow')];
    await bench.start(types);
    const passing: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const id = await bench.submit('fast');
      passing.push(id);
      await bench.untilEnded(id);
    }
    expect(begun).toEqual(passing);
    await until(
      () => queueCounts(bench.sqs, bench.jobs),
      ({ visible, inFlight }) => visible === 2 && inFlight === 0,
    );
    await first.stop();
    await resumeKind(bench.db, 'slow');
    for (const id of waiting) await bench.untilEnded(id);
    await bench.untilAcknowledged();
    expect(begun.toSorted()).toEqual([...passing, ...waiting].toSorted());
    for (const id of waiting) expect(await bench.attempts(id)).toEqual([[1, 'SUCCEEDED', null]]);
  });

  it('is not received while nothing else is due, and what runs when the pause comes ends normally', async () => {
    let end = (): void => {};
    const ending = new Promise<void>((resolve) => (end = resolve));
    const slow = jobType('slow', async () => {
      await ending;
      return completed;
    });
    await bench.start([slow], { env: { JOB_CONCURRENCY: '1' } });
    const id = await bench.submit('slow');
    await until(
      () => bench.job(id),
      ({ status }) => status === 'processing',
    );
    await pauseKind(bench.db, 'slow', by);
    const next = await bench.submit('slow');
    end();
    expect(await bench.untilEnded(id)).toMatchObject({ status: 'completed' });
    // The consumer receives once more, finds the pause, and returns the message.
    await until(
      () => queueCounts(bench.sqs, bench.jobs),
      ({ visible, inFlight }) => visible === 1 && inFlight === 0,
    );
    // A long poll may be under way. A worker that goes on to ask begins another one within two seconds.
    const receivesInFiveSeconds = async (): Promise<number> => {
      const before = receives();
      await sleep(5000);
      return receives() - before;
    };
    await until(receivesInFiveSeconds, (count) => count === 0);
    expect((await bench.job(next)).status).toBe('queued');
    await resumeKind(bench.db, 'slow');
    expect(await bench.untilEnded(next)).toMatchObject({ status: 'completed' });
  });
});
