import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createJob, readChanges, type Snapshot, type Subscription } from '../../src/index.ts';
import { MAX_ROW_BYTES } from '../../src/live/read-changes.ts';
import { makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { claimJob, endingOf, settle } from '../support/jobs.ts';

const current = useDatabase({ fresh: 'file' });
const MIB = 1024 * 1024;

async function newJobs(count: number, text: () => string): Promise<string[]> {
  const [user] = await makeUsers(current.db, 1);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const parameters = { content: text() };
    ids.push((await createJob(current.db, { userId: user!.id, jobType: 'import', parameters })).id);
  }
  return ids;
}

/** Base64 of random bytes, like that of an archive: Postgres can't compress it. */
const incompressible = (bytes: number) => (): string => randomBytes((bytes / 4) * 3).toString('base64');

const subscriptionsTo = (ids: readonly string[], row: Subscription['row'] = 'always'): Subscription[] =>
  ids.map((id) => ({ kind: 'job', id, after: null, row }));

const bytesOf = (snapshots: Iterable<Snapshot>): number =>
  [...snapshots].reduce((sum, { job }) => sum + (job === null ? 0 : JSON.stringify(job).length), 0);

/** Reads until nothing is postponed any more. @returns for each read the ids of its rows, and their bytes */
async function readAll(subscriptions: readonly Subscription[]): Promise<{ ids: string[]; bytes: number }[]> {
  const found: { ids: string[]; bytes: number }[] = [];
  let rest = subscriptions;
  while (rest.length > 0) {
    const snapshots = await readChanges(current.db, rest);
    const ids = [...snapshots.values()].flatMap(({ id, job }) => (job === null ? [] : [id]));
    found.push({ ids, bytes: bytesOf(snapshots.values()) });
    expect(ids).not.toEqual([]); // it comes to an end
    rest = rest.filter(({ id }) => snapshots.get(id)?.postponed === true);
  }
  return found;
}

describe('the rows of one read', () => {
  it.each([
    // Each list is a little longer than one read: to send and to read a MiB takes 30 ms of CPU time.
    ['that can not be compressed', 7, incompressible(3 * MIB)],
    ['that Postgres has compressed', 6, () => 'x'.repeat(4 * MIB)],
    ['of which one alone is longer than all may be', 2, incompressible(17 * MIB)],
  ])('are bounded, %s, and each has its turn, in the order asked for', async (_, count, text) => {
    const ids = await newJobs(count, text);
    const found = await readAll(subscriptionsTo(ids));
    expect(found.flatMap((read) => read.ids)).toEqual(ids);
    const longest = Math.max(...found.map(({ bytes, ids: { length } }) => bytes / length));
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(MAX_ROW_BYTES + longest);
    expect(found.length).toBeGreaterThan(1);
  });

  it('are bounded for jobs that have ended too, and those that go on take no room', async () => {
    const ids = await newJobs(10, incompressible(3 * MIB));
    const ended = ids.filter((_, n) => n % 2 === 1);
    for (const id of ended) {
      const result = { text: incompressible(4 * MIB)() };
      await settle(
        current.db,
        endingOf(await claimJob(current.db, id), { status: 'completed', result, errorMessage: null }),
      );
    }
    const snapshots = await readChanges(current.db, subscriptionsTo(ids, 'at the end'));
    const states = ids.map((id) => [snapshots.get(id)!.job !== null, snapshots.get(id)!.postponed]);
    const [going, whole, postponed] = [
      [false, false],
      [true, false],
      [false, true],
    ];
    // 7 MiB each: the fourth doesn't begin before 16 MiB.
    expect(states).toEqual([going, whole, going, whole, going, whole, going, postponed, going, postponed]);
    expect(
      (await readAll(subscriptionsTo(ids, 'at the end').filter(({ id }) => ended.includes(id)))).map(
        (read) => read.ids,
      ),
    ).toEqual([ended.slice(0, 3), ended.slice(3)]);
  });

  it('are all in it when they are short, and none is postponed that nobody wants', async () => {
    const short = await newJobs(100, () => 'short');
    expect((await readAll(subscriptionsTo(short))).map(({ ids }) => ids.length)).toEqual([100]);
    const long = await newJobs(5, incompressible(4 * MIB));
    const snapshots = await readChanges(current.db, subscriptionsTo(long, 'never'));
    expect([...snapshots.values()].map(({ job, postponed }) => [job, postponed])).toEqual(
      long.map(() => [null, false]),
    );
  });
});
