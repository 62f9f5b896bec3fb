import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { externalEndpoint, runOps, startCluster, type Cluster } from '../src/index.ts';

/** The emulator of the embedded stack has no versions: `npm run test:localstack -- restore-objects`. */
const hasVersions = externalEndpoint() !== undefined;
const itWithVersions = hasVersions ? it : it.skip;

let cluster: Cluster | undefined;
beforeAll(async () => {
  if (hasVersions) cluster = await startCluster();
}, 60_000);
afterAll(async () => {
  await cluster?.stop();
}, 60_000);

itWithVersions(
  'objects that were deleted wrongly come back from their versions, and those of deleted pastes do not',
  async () => {
    const here = cluster!;
    const content = randomBytes(2000);
    const [kept, deleted] = await Promise.all([
      here.client().pastes.create(content),
      here.client().pastes.create(content),
    ]);
    for (const { short_code } of [kept, deleted]) await here.untilStatus(short_code, 'PROCESSED');
    await here.client().pastes.delete(deleted.short_code, { deleteToken: deleted.delete_token });
    await here.until(
      () => here.paste(deleted.short_code),
      (paste) => paste.deletion_status === 'DELETED',
      { within: 90_000 },
    );
    const key = `pastes/${kept.short_code}`;
    await here.bucket.remove(key);
    await here.bucket.remove(key); // two deletions leave two delete markers
    expect(await here.bucket.keys()).toEqual([]);

    const restored = JSON.parse(await runOps(here, 'restore-objects', '--json')) as unknown;
    expect(restored).toEqual({ deleted: 2, restored: 1, not_served: 1 });
    expect(await here.bucket.keys()).toEqual([key]);
    expect((await here.http().read(kept.short_code)).body.equals(content)).toBe(true);
    expect(JSON.parse(await runOps(here, 'restore-objects', '--json'))).toMatchObject({ restored: 0 });
  },
  120_000,
);
