import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { externalEndpoints, runOps, startCluster, type Cluster } from '../src/index.ts';

/** The emulator of the embedded stack has no versions: `npm run proof -- localstack restore-objects`. */
const hasVersions = externalEndpoints() !== undefined;
const itWithVersions = hasVersions ? it : it.skip;

let cluster: Cluster | undefined;
beforeAll(async () => {
  if (hasVersions) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.stop();
});

itWithVersions(
  'restore-objects restores wrongly deleted objects from their versions, and none of deleted pastes',
  async () => {
    const running = cluster!;
    const content = randomBytes(2000);
    const [kept, deleted] = await Promise.all([
      running.client().pastes.create(content),
      running.client().pastes.create(content),
    ]);
    for (const { short_code } of [kept, deleted]) await running.untilStatus(short_code, 'PROCESSED');
    await running.client().pastes.delete(deleted.short_code, { deleteToken: deleted.delete_token });
    await running.until(
      () => running.paste(deleted.short_code),
      (paste) => paste.deletion_status === 'DELETED',
      { within: 90_000 },
    );
    const key = `pastes/${kept.short_code}`;
    await running.bucket.remove(key);
    await running.bucket.remove(key); // two deletions leave two delete markers
    expect(await running.bucket.keys()).toEqual([]);

    const restored = JSON.parse(await runOps(running, 'restore-objects', '--json')) as unknown;
    expect(restored).toEqual({ deleted: 2, restored: 1, not_served: 1 });
    expect(await running.bucket.keys()).toEqual([key]);
    expect((await running.http().read(kept.short_code)).body.equals(content)).toBe(true);
    expect(JSON.parse(await runOps(running, 'restore-objects', '--json'))).toMatchObject({ restored: 0 });
  },
  120_000,
);
