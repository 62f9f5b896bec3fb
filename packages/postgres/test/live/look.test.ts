import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createJob, lookAt, type Seen, type Wanted } from '../../src/index.ts';
import { LONG_ROWS_BYTES } from '../../src/live/look.ts';
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

/** Base64 of nothing but chance, as that of an archive: Postgres can't compress it. */
const incompressible = (bytes: number) => (): string => randomBytes((bytes / 4) * 3).toString('base64');

const want = (ids: readonly string[], row: Wanted['row'] = 'always'): Wanted[] =>
  ids.map((id) => ({ kind: 'job', id, after: null, row }));

const bytesOf = (seen: Iterable<Seen>): number =>
  [...seen].reduce((sum, { job }) => sum + (job === null ? 0 : JSON.stringify(job).length), 0);

/** Looks until nothing is postponed any more. @returns whose rows each look had, and how many bytes of them */
async function looks(wanted: readonly Wanted[]): Promise<{ ids: string[]; bytes: number }[]> {
  const found: { ids: string[]; bytes: number }[] = [];
  let rest = wanted;
  while (rest.length > 0) {
    const seen = await lookAt(current.db, rest);
    const ids = [...seen.values()].flatMap(({ id, job }) => (job === null ? [] : [id]));
    found.push({ ids, bytes: bytesOf(seen.values()) });
    expect(ids).not.toEqual([]); // it comes to an end
    rest = rest.filter(({ id }) => seen.get(id)?.postponed === true);
  }
  return found;
}

describe('the rows of one look', () => {
  it.each([
    ['that can not be compressed', 12, incompressible(3 * MIB)],
    ['that Postgres has compressed', 10, () => 'x'.repeat(4 * MIB)],
    ['of which one alone is longer than all may be', 2, incompressible(20 * MIB)],
  ])('are bounded, %s, and each has its turn, in the order asked for', async (_, count, text) => {
    const ids = await newJobs(count, text);
    const found = await looks(want(ids));
    expect(found.flatMap((look) => look.ids)).toEqual(ids);
    const longest = Math.max(...found.map(({ bytes, ids: { length } }) => bytes / length));
    for (const { bytes } of found) expect(bytes).toBeLessThanOrEqual(LONG_ROWS_BYTES + longest);
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
    const seen = await lookAt(current.db, want(ids, 'at the end'));
    const states = ids.map((id) => [seen.get(id)!.job !== null, seen.get(id)!.postponed]);
    const [going, whole, postponed] = [
      [false, false],
      [true, false],
      [false, true],
    ];
    // 7 MiB each: the fourth doesn't begin before 16 MiB.
    expect(states).toEqual([going, whole, going, whole, going, whole, going, postponed, going, postponed]);
    expect(
      (await looks(want(ids, 'at the end').filter(({ id }) => ended.includes(id)))).map((look) => look.ids),
    ).toEqual([ended.slice(0, 3), ended.slice(3)]);
  });

  it('are all in it when they are short, and none is postponed that nobody wants', async () => {
    const short = await newJobs(300, () => 'short');
    expect((await looks(want(short))).map(({ ids }) => ids.length)).toEqual([300]);
    const long = await newJobs(6, incompressible(4 * MIB));
    const seen = await lookAt(current.db, want(long, 'never'));
    expect([...seen.values()].map(({ job, postponed }) => [job, postponed])).toEqual(
      long.map(() => [null, false]),
    );
  });
});
