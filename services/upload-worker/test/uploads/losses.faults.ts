import { expect, it, jest } from '@jest/globals';
import { decideNextStep, defaultRetryPolicy } from '@pasteflow/domain';
import { findZombies, settleExecutions, uploadSubject } from '@pasteflow/postgres';
import { lockRow, makePastes, slowUpdates, type MadePaste } from '@pasteflow/postgres/testing';
import { createQueue, sendUploads } from '@pasteflow/sqs';
import { until, useBench } from '../support/bench.ts';

const bench = useBench();

/** Without the put of the object that names the owner of the bucket, with which a worker starts. */
const puts = { method: 'PUT', path: /\/pastes\// };

jest.setTimeout(600_000); // slow statements take long on a busy machine

const start = (env: Record<string, string> = {}) =>
  bench.start([], { env: { UPLOAD_WORKER_QUEUES: 'uploads', EXECUTION_LEASE_SECONDS: '6', ...env } });

async function submit(count: number, losses = 0): Promise<readonly MadePaste[]> {
  const pastes = await makePastes(bench.db, count, {
    status: 'IN_PROGRESS',
    execution: { status: 'PENDING', losses, dispatchedSecondsAgo: 0 },
  });
  await send(pastes);
  return pastes;
}

async function send(pastes: readonly { executionId: string; shortCode: string }[]): Promise<void> {
  const queue = createQueue(bench.sqs, 'pasteflow-uploads');
  for (let n = 0; n < pastes.length; n += 10)
    await sendUploads(
      bench.sqs,
      queue,
      pastes.slice(n, n + 10).map(({ executionId, shortCode }) => ({
        executionId,
        shortCode,
        content: null,
        context: {},
      })),
    );
}

/** Does the work of the reaper: ends zombies and sends the messages of their successors. */
async function reap(): Promise<void> {
  const { items: zombies } = await findZombies(bench.db, uploadSubject, 100);
  const settlements = zombies.map((zombie) => {
    const outcome = { kind: 'lost', error: 'worker lost' } as const;
    const nextStep = decideNextStep(outcome, zombie, defaultRetryPolicy, 0.5);
    return { executionId: zombie.executionId, outcome, nextStep };
  });
  const by = { actor: 'janitor/test', onlyPastLease: true, dispatched: true };
  const settled = await settleExecutions(bench.db, uploadSubject, settlements, by);
  await send(
    zombies.flatMap(({ executionId, shortCode }) => {
      const successor = settled.get(executionId)?.successorId;
      return successor ? [{ executionId: successor, shortCode }] : [];
    }),
  );
}

const statesOf = async (pastes: readonly MadePaste[]) => {
  const rows = await bench.db
    .selectFrom('pastes')
    .select(['status'])
    .where(
      'id',
      'in',
      pastes.map(({ id }) => id),
    )
    .execute();
  const groups = [...Map.groupBy(rows, ({ status }) => status)];
  return Object.fromEntries(groups.map(([status, { length }]) => [status, length]));
};

it('with UPDATEs that take 4 s, no paste becomes FAILED: all 30 are PROCESSED', async () => {
  const pastes = await submit(30);
  const restore = await slowUpdates(bench.db, 4);
  await start();
  const reaping = setInterval(() => void reap().catch(() => {}), 2000);
  try {
    const deadline = performance.now() + 550_000;
    while ((await statesOf(pastes)).PROCESSED !== 30 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 200));
  } finally {
    clearInterval(reaping);
    await restore();
  }
  expect(await statesOf(pastes)).toEqual({ PROCESSED: 30 });
});

/** Waits until the lease has been renewed for longer than one lease lasts. */
async function untilRenewedForAnotherLease(executionId: string): Promise<void> {
  const leaseEnd = async () => {
    const row = await bench.db
      .selectFrom('task_executions')
      .select('lease_expires_at')
      .where('id', '=', executionId)
      .executeTakeFirstOrThrow();
    return row.lease_expires_at?.getTime() ?? 0;
  };
  const first = await leaseEnd();
  await until(leaseEnd, (end) => end > first + 6000);
}

it.each(['pastes', 'task_executions'] as const)(
  'a locked row of %s delays no other upload of the batch, and its own upload is settled after the release',
  async (table) => {
    bench.proxy.rule(puts, { kind: 'delay', ms: 1500 });
    const pastes = await submit(6);
    const [locked, ...others] = pastes;
    await start();
    await until(
      () => bench.proxy.matching(puts).length,
      (puts) => puts >= 6,
    );
    const release = await lockRow(bench.db, table, table === 'pastes' ? locked!.id : locked!.executionId);
    await until(
      () => statesOf(others),
      ({ PROCESSED }) => PROCESSED === 5,
    );
    expect(await statesOf([locked!])).toEqual({ IN_PROGRESS: 1 });
    if (table === 'pastes') await untilRenewedForAnotherLease(locked!.executionId);
    await release();
    await until(
      () => statesOf(pastes),
      ({ PROCESSED }) => PROCESSED === 6,
    );
  },
);

it('uploads that were lost twice run one by one, apart from the others of their batch', async () => {
  const suspects = await submit(2, 2);
  const others = await submit(8);
  await start({ UPLOAD_CONCURRENCY: '1' });
  const all = [...suspects, ...others];
  await until(
    () => statesOf(all),
    ({ PROCESSED }) => PROCESSED === 10,
  );
  const runs = await bench.db
    .selectFrom('task_executions')
    .select(['id', 'started_at', 'finished_at'])
    .where(
      'id',
      'in',
      all.map(({ executionId }) => executionId),
    )
    .execute();
  for (const { executionId } of suspects) {
    const suspect = runs.find(({ id }) => id === executionId)!;
    const concurrent = runs.filter(
      ({ id, started_at, finished_at }) =>
        id !== executionId && started_at! < suspect.finished_at! && finished_at! > suspect.started_at!,
    );
    expect(concurrent).toEqual([]);
  }
});
