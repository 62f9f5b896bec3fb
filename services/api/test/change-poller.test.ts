import { describe, expect, it } from '@jest/globals';
import { pollerOf, snapshotOf, unchanged, watcher } from './support/test-poller.ts';

describe('a read', () => {
  it('asks for enough for each watcher, and informs no watcher that came after it began', async () => {
    const held = Promise.withResolvers<void>();
    const { poller, clock, reads } = pollerOf({
      answer: async (read) => {
        if (reads.length === 1) await held.promise;
        return reads.length === 1 ? unchanged(read) : [];
      },
    });
    const [early, row, late] = [
      watcher('a', { after: 7, row: 'never' }),
      watcher('a', { after: null, row: 'at the end' }),
      watcher('a', { after: 3, row: 'always' }),
    ];
    poller.watch(early);
    poller.watch(row);
    await clock.advance(20);
    expect(reads[0]!.subscriptions).toEqual([{ kind: 'upload', id: 'a', after: 7, row: 'at the end' }]);
    poller.watch(late);
    poller.readNow(late);
    await clock.advance(1000); // no second read runs beside the first
    expect(reads).toHaveLength(1);
    held.resolve();
    await clock.advance(20);
    expect(early.received).toEqual(['a', null]);
    expect(late.received).toEqual([null]);
    expect(reads[1]!.subscriptions).toEqual([{ kind: 'upload', id: 'a', after: 3, row: 'always' }]);
  });

  it('is repeated with growing waits when it fails, and no watcher is dropped', async () => {
    let isDown = true;
    const { poller, clock, reads, retries } = pollerOf({
      answer: (read) => {
        if (isDown) throw new Error('Postgres is unavailable');
        return unchanged(read);
      },
    });
    const [one, two] = [watcher('a'), watcher('b')];
    poller.watch(one);
    await clock.advance(3000);
    poller.watch(two);
    await clock.advance(7000);
    for (const [n, baseMs] of [100, 200, 400, 800, 1000, 1000, 1000].entries()) {
      expect(retries[n]).toBeGreaterThanOrEqual(baseMs * 0.8);
      expect(retries[n]).toBeLessThanOrEqual(baseMs * 1.2);
    }
    expect(reads.length).toBeLessThanOrEqual(15);
    expect(one.received).toEqual(reads.map(() => 'failed'));
    isDown = false;
    await clock.advance(1200);
    expect([one.received.at(-1), two.received.at(-1)]).toEqual(['a', 'b']);
    const last = reads.at(-1)!.at;
    await clock.advance(100);
    expect(reads.at(-1)!.at).toBeGreaterThan(last); // at the usual pace again
  });

  it('follows after the pause when there are more transitions', async () => {
    const { poller, clock, reads } = pollerOf({
      answer: ({ subscriptions }) =>
        subscriptions.map(({ id }) => snapshotOf(id, { complete: reads.length > 3 })),
    });
    poller.watch(watcher('a'));
    await clock.advance(80);
    expect(reads.map(({ at }) => at)).toEqual([20, 40, 60, 80]);
  });

  it('is followed by others for rows that had no room, before those that are due meanwhile', async () => {
    const ids = Array.from({ length: 500 }, (_, n) => `paste ${n}`);
    const room = [10, 30, 200, 200, 500];
    const { poller, clock, reads } = pollerOf({
      answer: ({ subscriptions }) => {
        const rows = room[reads.length - 1] ?? Infinity;
        return subscriptions.map(({ id }, n) => snapshotOf(id, { postponed: n >= rows }));
      },
    });
    const all = ids.map((id) => watcher(id, { after: null, row: 'always' }));
    for (const each of all) poller.watch(each);
    const late = watcher('new', { after: null, row: 'always' });
    await clock.advance(19);
    poller.watch(late);
    await clock.advance(1);
    const read = (n: number) => reads[n]!.subscriptions.map(({ id }) => id);
    expect(read(0)).toEqual(ids);
    expect(read(1)).toEqual(ids.slice(10, 210)); // postponed rows are read again each time, so a read takes a limited number of them
    expect([read(2).length, read(3).length]).toEqual([200, 200]);
    expect(new Set([1, 2, 3, 4].flatMap(read))).toEqual(new Set(ids.slice(10)));
    expect(reads.slice(0, 5).map(({ at }) => at)).toEqual([20, 20, 20, 20, 20]); // no pause
    await clock.advance(100);
    expect(late.received.length).toBeGreaterThan(0);
  });

  it('includes nothing for a watcher that wants nothing now or has left', async () => {
    const { poller, clock, reads, counts } = pollerOf();
    const [full, left, other] = [watcher('a', null), watcher('b'), watcher('c')];
    for (const each of [full, left, other]) poller.watch(each);
    poller.unwatch(left);
    poller.unwatch(left);
    await clock.advance(1000);
    expect(new Set(reads.flatMap(({ subscriptions }) => subscriptions.map(({ id }) => id)))).toEqual(
      new Set(['c']),
    );
    expect(counts.at(-1)).toEqual(['events', 2]);
    poller.unwatch(other);
    reads.splice(0);
    await clock.advance(1000);
    expect([reads, clock.timers]).toEqual([[], 0]);
  });
});

it('admits no more watchers than the limit, and none after a stop, which informs all of them', () => {
  const { poller } = pollerOf({ maxWatchers: 2 });
  const all = [watcher('a'), watcher('a'), watcher('b')];
  expect(all.map((each) => poller.watch(each))).toEqual([true, true, false]);
  poller.unwatch(all[0]!);
  expect(poller.watch(all[2]!)).toBe(true);
  poller.stop();
  expect(all.map(({ received }) => received)).toEqual([[], ['stop'], ['stop']]);
  poller.unwatch(all[1]!);
  expect(poller.watch(all[0]!)).toBe(false);
});
