import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedPaste } from '@pasteflow/client';
import { startPostgres } from '@pasteflow/dev-stack';
import { copyRunningPostgres, spawnService } from '@pasteflow/dev-stack/testing';
import {
  findViolations,
  entryOf,
  startCluster,
  startStack,
  type Cluster,
  type RestartableStack,
  type Stack,
} from '../src/index.ts';

/**
 * docs/deploy.md, "Backup and restore": Postgres is restored to an earlier time, while the bucket and the
 * queues keep their current state.
 */
let folder: string;
let stack: RestartableStack;
let original: Cluster;
let restored: Cluster<Stack> | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pasteflow-backup-'));
  stack = await startStack();
  original = await startCluster({ stack, env: { SWEEP_INTERVALS: 'cleanup=0.5' } });
});
afterAll(async () => {
  await restored?.stop();
  await original.stop();
  await rm(folder, { recursive: true, force: true });
});

const contents = new Map<string, Buffer>();

async function create(): Promise<CreatedPaste> {
  const content = randomBytes(2000);
  const paste = await original.client().pastes.create(content);
  contents.set(paste.short_code, content);
  return paste;
}

async function createStored(): Promise<CreatedPaste> {
  const paste = await create();
  await original.untilStatus(paste.short_code, 'PROCESSED');
  return paste;
}

const keyOf = ({ short_code }: CreatedPaste): string => `pastes/${short_code}`;

it('a database that was restored from a backup works with the current bucket and queues', async () => {
  const [kept, deletedSince] = [await createStored(), await createStored()];
  const holding = original.s3.hold({ method: 'PUT' });
  const uploadedSince = await create();
  const put = await holding;
  await copyRunningPostgres(stack.databaseUrl, folder);

  await put.forward();
  await original.untilStatus(uploadedSince.short_code, 'PROCESSED');
  await original.client().pastes.delete(deletedSince.short_code, { deleteToken: deletedSince.delete_token });
  await original.until(async () => !(await original.bucket.keys()).includes(keyOf(deletedSince)));
  const createdSince = await createStored();
  await Promise.all(original.workers.map((worker) => worker.stop()));
  const sentSince = await create();
  await original.until(
    () => original.queues.counts('uploads'),
    ({ visible }) => visible === 1,
  );
  await Promise.all([...original.apis, ...original.janitors].map((service) => service.stop()));

  const postgres = await startPostgres({ dataDir: folder, fsync: false });
  const databaseUrl = new URL(new URL(stack.databaseUrl).pathname, postgres.url).href;
  restored = await startCluster<Stack>({
    stack: { databaseUrl, aws: stack.aws, stop: () => postgres.stop() },
    env: { SWEEP_INTERVALS: 'cleanup=0.5' },
  });
  const { short_code: code } = uploadedSince;
  await restored.untilStatus(code, 'PROCESSED', { within: 60_000 });
  expect(await restored.executions(code)).toMatchObject([
    { attempt: 1, status: 'FAILED', error: expect.stringContaining('worker lost') },
    { attempt: 1, status: 'SUCCEEDED' }, // a loss spends no attempt
  ]);
  for (const { short_code } of [kept, uploadedSince]) {
    const { status, body } = await restored.http().read(short_code);
    expect({ status, same: body.equals(contents.get(short_code)!) }).toEqual({ status: 200, same: true });
  }
  for (const { short_code } of [createdSince, sentSince])
    expect((await restored.http().read(short_code)).status).toBe(404);
  expect((await restored.http().read(deletedSince.short_code)).status).toBe(503);

  expect(await reconciled(restored)).toMatchObject({ orphans: 1, removed: 0, missing: 1 });
  expect(await restored.bucket.keys()).toContain(keyOf(createdSince));
  await restored.rows.query(`UPDATE orphan_objects SET first_seen_at = first_seen_at - interval '1 day'`);
  expect(await reconciled(restored)).toMatchObject({ orphans: 1, removed: 1, missing: 1 });
  expect(await restored.bucket.keys()).toEqual([kept, uploadedSince].map(keyOf).toSorted());
  await restored.until(
    () => findViolations(restored!),
    (problems) =>
      expect(problems).toEqual([
        `paste ${deletedSince.short_code} is PROCESSED and S3 has no s3://${stack.aws.bucket}/${keyOf(deletedSince)}`,
      ]),
  );
  await restored.client().pastes.delete(deletedSince.short_code, { deleteToken: deletedSince.delete_token });
  await restored.until(
    () => restored!.paste(deletedSince.short_code),
    (paste) => paste.deletion_status === 'DELETED',
  );
  await restored.expectQuiet();
});

/** Runs `npm run janitor -- --once reconcile` for objects of any age. */
async function reconciled(cluster: Cluster<Stack>): Promise<unknown> {
  const janitor = spawnService({
    entry: entryOf('janitor'),
    args: ['--once', 'reconcile'],
    env: { ...cluster.environment('janitor'), METRICS_PORT: '0', RECONCILE_MIN_AGE_SECONDS: '0.001' },
  });
  expect((await janitor.exited).code).toBe(0);
  return JSON.parse(janitor.stdout.join('\n'));
}
