import { describe, expect, it } from '@jest/globals';
import type { Seen, Wanted } from '@pasteflow/postgres';
import { ChangeWatch, type Watcher } from '../src/live/change-watch.ts';
import { until } from './support/until.ts';

const seenOf = (id: string, complete = true, postponed = false): Seen => ({
  id,
  status: 'IN_PROGRESS',
  settled: false,
  gone: false,
  expiresAt: null,
  progress: null,
  paste: null,
  job: null,
  transitions: [],
  complete,
  postponed,
});

/** A watch whose reads the test answers. */
function watchOf(maxWatchers = 10_000) {
  const looks: { wanted: readonly Wanted[]; answer: (seen?: readonly Seen[]) => void; fail: () => void }[] =
    [];
  const counts: [string, number][] = [];
  const watch = new ChangeWatch({
    maxWatchers,
    onCount: (purpose, count) => counts.push([purpose, count]),
    look: (wanted) =>
      new Promise((resolve, reject) => {
        looks.push({
          wanted,
          answer: (seen = wanted.map(({ id }) => seenOf(id))) =>
            resolve(new Map(seen.map((each) => [each.id, each]))),
          fail: () => reject(new Error('Postgres is unavailable')),
        });
      }),
  });
  return { watch, looks, counts };
}

interface Told extends Watcher {
  readonly told: (string | null)[];
}

function watcher(id: string, wants: ReturnType<Watcher['wants']> = { after: 0, row: 'never' }): Told {
  const told: (string | null)[] = [];
  return {
    purpose: 'events',
    kind: 'upload',
    id,
    told,
    wants: () => wants,
    seen: (seen) => told.push(seen?.id ?? null),
    failed: () => told.push('failed'),
    stop: () => told.push('stop'),
  };
}

describe('a read of changes', () => {
  it('is one for everything that has changed, however many clients wait for it', async () => {
    const { watch, looks } = watchOf();
    const watchers = Array.from({ length: 1000 }, (_, n) => watcher(`paste ${n % 100}`));
    for (const each of watchers) watch.watch(each, 0);
    expect(looks).toEqual([]);
    watch.changed('all');
    watch.changed(['paste 1', 'paste 2', 'nobody’s']);
    await until(() => looks.length === 1);
    expect(looks[0]!.wanted).toHaveLength(100);
    looks[0]!.answer();
    await until(() => watchers.every(({ told }) => told.length === 1));
  });

  it('is followed by another when something changes while it runs', async () => {
    const { watch, looks } = watchOf();
    const one = watcher('a');
    watch.watch(one, 0);
    watch.changed(['a']);
    await until(() => looks.length === 1);
    watch.changed(['a']);
    looks[0]!.answer();
    await until(() => looks.length === 2);
    looks[1]!.answer();
    await until(() => one.told.length === 2);
  });

  it('asks for enough for each watcher, and informs no watcher that came after it began', async () => {
    const { watch, looks } = watchOf();
    const [early, row, late] = [
      watcher('a', { after: 7, row: 'never' }),
      watcher('a', { after: null, row: 'at the end' }),
      watcher('a', { after: 3, row: 'always' }),
    ];
    watch.watch(early, 0);
    watch.watch(row, 0);
    watch.changed(['a']);
    await until(() => looks.length === 1);
    expect(looks[0]!.wanted).toEqual([{ kind: 'upload', id: 'a', after: 7, row: 'at the end' }]);
    watch.watch(late, 0);
    watch.wake(late);
    looks[0]!.answer();
    await until(() => looks.length === 2);
    expect(late.told).toEqual([]);
    expect(looks[1]!.wanted).toEqual([{ kind: 'upload', id: 'a', after: 3, row: 'always' }]);
    looks[1]!.answer([]);
    await until(() => late.told.length === 1);
    expect(early.told).toEqual(['a', null]);
  });

  it('is repeated when it fails, and when it had no room for everything', async () => {
    const { watch, looks } = watchOf();
    const one = watcher('a');
    watch.watch(one, 0);
    watch.changed(['a']);
    await until(() => looks.length === 1);
    looks[0]!.fail();
    await until(() => looks.length === 2);
    looks[1]!.answer([seenOf('a', false)]);
    await until(() => looks.length === 3);
    looks[2]!.answer();
    await until(() => one.told.length === 3);
    expect(one.told).toEqual(['failed', 'a', 'a']);
  });

  it('is followed by others for rows that had no room, before those that changed meanwhile', async () => {
    const { watch, looks } = watchOf();
    const ids = Array.from({ length: 500 }, (_, n) => `paste ${n}`);
    const watchers = [...ids, 'new'].map((id) => watcher(id, { after: null, row: 'always' }));
    for (const each of watchers) watch.watch(each, 0);
    watch.changed(ids);
    const wantedBy = (n: number) => looks[n]!.wanted.map(({ id }) => id);
    const postponing = (n: number, room: number) =>
      looks[n]!.answer(wantedBy(n).map((id, at) => seenOf(id, true, at >= room)));
    await until(() => looks.length === 1);
    watch.changed(['new']);
    postponing(0, 10);
    await until(() => looks.length === 2);
    expect(wantedBy(1)).toEqual(ids.slice(10, 210)); // postponed rows are read again each time, so a read takes a limited number of them
    postponing(1, 30);
    for (const n of [2, 3]) {
      await until(() => looks.length === n + 1);
      expect(wantedBy(n)).toHaveLength(200);
      looks[n]!.answer();
    }
    await until(() => looks.length === 5);
    expect(wantedBy(4)).toEqual([...ids.slice(440), 'new']);
    looks[4]!.answer();
    await until(() => watchers.at(-1)!.told.length === 1);
    expect(new Set([1, 2, 3, 4].flatMap(wantedBy))).toEqual(new Set([...ids.slice(10), 'new']));
  });

  it('asks nothing for a watcher that wants nothing now or has left', async () => {
    const { watch, looks, counts } = watchOf();
    const [full, left, other] = [watcher('a', null), watcher('b'), watcher('c')];
    for (const each of [full, left, other]) watch.watch(each, 0);
    watch.changed('all');
    watch.unwatch(left);
    watch.unwatch(left);
    await until(() => looks.length === 1);
    expect(looks[0]!.wanted.map(({ id }) => id)).toEqual(['c']);
    looks[0]!.answer();
    expect(counts.at(-1)).toEqual(['events', 2]);
  });
});

describe('a client that reads before it waits', () => {
  it('is read again at once when its row changed since, and not when another did', async () => {
    const { watch, looks } = watchOf();
    await watch.reading(async (since) => {
      watch.changed(['b']);
      watch.watch(watcher('a'), since);
      watch.watch(watcher('b'), since);
    });
    await until(() => looks.length === 1);
    expect(looks[0]!.wanted.map(({ id }) => id)).toEqual(['b']);
    looks[0]!.answer();
  });

  it('is read again when too many rows changed to remember them', async () => {
    const { watch, looks } = watchOf();
    await watch.reading(async (since) => {
      watch.changed(['a']);
      watch.changed(Array.from({ length: 10_001 }, (_, n) => `other ${n}`));
      watch.watch(watcher('a'), since);
    });
    await until(() => looks.length === 1);
    looks[0]!.answer();
  });
});

it('admits no more watchers than the limit, and none after a stop, which informs all of them', () => {
  const { watch } = watchOf(2);
  const watchers = [watcher('a'), watcher('a'), watcher('b')];
  expect(watchers.map((each) => watch.watch(each, 0))).toEqual([true, true, false]);
  watch.unwatch(watchers[0]!);
  expect(watch.watch(watchers[2]!, 0)).toBe(true);
  watch.stop();
  expect(watchers.map(({ told }) => told)).toEqual([[], ['stop'], ['stop']]);
  watch.unwatch(watchers[1]!);
  expect(watch.watch(watchers[0]!, 0)).toBe(false);
});
