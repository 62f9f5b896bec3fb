import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreatedPaste } from '@pasteflow/client';
import { spawnService, type HeldRequest, metricOf } from '@pasteflow/dev-stack/testing';
import { entryOf, startCluster, type Cluster, type Service } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ env: { SWEEP_INTERVALS: 'cleanup=0.5' } });
});
afterAll(() => cluster.stop());

const content = randomBytes(1000);

describe('a worker frozen beyond its lease', () => {
  it('changes no row when it continues, and reconcile removes what its late put leaves after a deletion', async () => {
    const zombie = cluster.workers[0]!;
    const [kept, deleted] = [await pasteWithHeldPut(zombie), await pasteWithHeldPut(zombie)];
    zombie.signal('SIGSTOP');
    await cluster.add('upload-worker');
    for (const { paste } of [kept, deleted]) await cluster.untilStatus(paste.short_code, 'PROCESSED');
    await deletePaste(deleted.paste);
    await untilDeleted(deleted.paste);

    const historyBefore = await historyOf(kept, deleted);
    for (const { put } of [kept, deleted]) expect(await put.forward()).toBe(200);
    zombie.signal('SIGCONT');
    await cluster.until(
      () => metricOf(zombie, 'upload_settlements_lost_total'),
      (count) => count === 2,
    );
    // The second line of one kind is written at the end of the second.
    const codes = (): ReadonlySet<unknown> =>
      new Set(
        zombie.log
          .filter(({ message }) => message.startsWith('upload already settled by another process'))
          .map((line) => line.short_code),
      );
    expect(await cluster.until(codes, ({ size }) => size === 2)).toEqual(
      new Set([kept, deleted].map(({ paste }) => paste.short_code)),
    );
    expect(await historyOf(kept, deleted)).toEqual(historyBefore);
    expect(historyBefore.filter((step) => step === 'paste_upload IN_PROGRESS PROCESSED')).toHaveLength(2);
    expect(await cluster.executions(kept.paste.short_code)).toMatchObject([
      { attempt: 1, status: 'FAILED' },
      { attempt: 1, status: 'SUCCEEDED' }, // a loss spends no attempt
    ]);
    expect((await cluster.http().read(kept.paste.short_code)).body.equals(content)).toBe(true);

    expect(await cluster.bucket.keys()).toContain(`pastes/${deleted.paste.short_code}`);
    expect(await cluster.http().read(deleted.paste.short_code)).toMatchObject({ status: 410 });
    await reconcile();
    await cluster.rows.query(`UPDATE orphan_objects SET first_seen_at = first_seen_at - interval '1 day'`);
    await reconcile();
    await cluster.expectQuiet();
  });
});

describe('a janitor frozen in the middle of a cleanup', () => {
  it('does not hold up another janitor, and settles its deletion when it continues', async () => {
    const zombie = cluster.janitors[0]!;
    const [first, second] = [await stored(), await stored()];
    const holding = cluster.s3.hold({ method: 'POST', path: /\?delete/ });
    await deletePaste(first);
    const deletion = await holding;
    zombie.signal('SIGSTOP');
    await cluster.add('janitor');
    await deletePaste(second);
    await untilDeleted(second);
    expect(await cluster.paste(first.short_code)).toMatchObject({ deletion_status: 'DELETION_IN_PROGRESS' });

    zombie.signal('SIGCONT');
    await deletion.forward();
    await untilDeleted(first);
    await cluster.expectQuiet();
    expect((await fetch(`${zombie.metricsUrl}/healthz`)).status).toBe(200);
  });
});

interface HeldPaste {
  readonly paste: CreatedPaste;
  readonly put: HeldRequest;
}

/** Creates a paste whose put by this worker, the only one, is held. */
async function pasteWithHeldPut(worker: Service): Promise<HeldPaste> {
  const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
  const paste = await cluster.client().pastes.create(content);
  const put = await holding;
  expect(cluster.workers).toEqual([worker]);
  return { paste, put };
}

async function stored(): Promise<CreatedPaste> {
  const paste = await cluster.client().pastes.create(content);
  await cluster.untilStatus(paste.short_code, 'PROCESSED');
  return paste;
}

async function deletePaste({ short_code, delete_token: deleteToken }: CreatedPaste): Promise<void> {
  await cluster.client().pastes.delete(short_code, { deleteToken });
}

async function untilDeleted({ short_code }: CreatedPaste): Promise<void> {
  await cluster.until(
    () => cluster.paste(short_code),
    (paste) => paste.deletion_status === 'DELETED',
  );
}

async function historyOf(...pastes: readonly HeldPaste[]): Promise<string[]> {
  return (await Promise.all(pastes.map(({ paste }) => cluster.transitions(paste.short_code)))).flat();
}

/** Runs `npm run janitor -- --once reconcile` for objects of any age. */
async function reconcile(): Promise<void> {
  const janitor = spawnService({
    entry: entryOf('janitor'),
    args: ['--once', 'reconcile'],
    env: { ...cluster.environment('janitor'), METRICS_PORT: '0', RECONCILE_MIN_AGE_SECONDS: '0.001' },
  });
  expect((await janitor.exited).code).toBe(0);
}
