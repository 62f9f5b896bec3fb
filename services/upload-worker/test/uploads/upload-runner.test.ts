import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, jest } from '@jest/globals';
import { messageVisibilitySeconds } from '@pasteflow/domain';
import { makePastes, type MadePaste } from '@pasteflow/postgres/testing';
import { createQueue, sendUploads } from '@pasteflow/sqs';
import { until, useBench } from '../support/bench.ts';

const bench = useBench();

jest.setTimeout(240_000);

async function submit(count: number): Promise<readonly MadePaste[]> {
  const pastes = await makePastes(bench.db, count, {
    status: 'IN_PROGRESS',
    execution: { status: 'PENDING', dispatchedSecondsAgo: 0 },
  });
  const messages = pastes.map((paste) => ({ ...paste, content: null, context: {} }));
  const queue = createQueue(bench.sqs, 'pasteflow-uploads');
  for (let n = 0; n < count; n += 10) await sendUploads(bench.sqs, queue, messages.slice(n, n + 10));
  return pastes;
}

const start = (env: Readonly<Record<string, string>> = {}) =>
  bench.start([], {
    overrides: { stopGraceMs: 60_000 },
    env: { UPLOAD_WORKER_QUEUES: 'uploads', UPLOAD_CONCURRENCY: '2', S3_PUT_TIMEOUT_MS: '600000', ...env },
  });

const processed = async () =>
  (await bench.db.selectFrom('pastes').select('id').where('status', '=', 'PROCESSED').execute()).length;

it('eleven puts that hang, more than one batch, do not hold up two consumers: all other uploads are stored meanwhile', async () => {
  const put = { method: 'PUT', path: /\/pastes\// };
  const hanging = Array.from({ length: 11 }, () => bench.proxy.hold(put));
  const pastes = await submit(60);
  await start();
  await until(processed, (count) => count === pastes.length - hanging.length);
  for (const held of hanging) await (await held).forward();
  await until(processed, (count) => count === pastes.length);
});

it('a stop waits until the messages that were taken over are settled and acknowledged', async () => {
  const put = { method: 'PUT', path: /\/pastes\// };
  const hanging = bench.proxy.hold(put);
  const before = await processed();
  await submit(1);
  const worker = await start();
  const held = await hanging;
  const stopped = worker.stop();
  await Promise.race([stopped, sleep(5000)]); // twice as long as the last receive takes
  await held.forward();
  await stopped;
  expect(await processed()).toBe(before + 1);
  expect(bench.proxy.matching({ target: 'DeleteMessageBatch' })).toHaveLength(1);
});

it('a message is kept hidden while its put lasts, and no longer', async () => {
  const put = { method: 'PUT', path: /\/pastes\// };
  const leaseSeconds = 3;
  // A message that is returned gets another time.
  const hidden = `"VisibilityTimeout":${messageVisibilitySeconds(leaseSeconds)}`;
  const keptHidden = () =>
    bench.proxy
      .matching({ target: 'ChangeMessageVisibilityBatch' })
      .filter(({ body }) => String(body).includes(hidden)).length;
  const hanging = bench.proxy.hold(put);
  await submit(1);
  await start({ EXECUTION_LEASE_SECONDS: String(leaseSeconds) });
  const held = await hanging;
  await until(keptHidden, (requests) => requests > 1);
  await held.forward();
  await until(
    () => bench.proxy.matching({ target: 'DeleteMessageBatch' }).length,
    (requests) => requests === 1,
  );
  await sleep(500); // for the request that was under way
  const before = keptHidden();
  await sleep(3000);
  expect(keptHidden()).toBe(before);
});
