import { describe, expect, it } from '@jest/globals';
import type { Snapshot } from '@pasteflow/postgres';
import { pollerOf, snapshotOf, unchanged, watcher, watchers } from './support/test-poller.ts';

describe('a read', () => {
  it('asks for enough for each watcher, and informs no watcher that came after it began', async () => {
    const held = Promise.withResolvers<void>();
    const { poller, clock, reads } = pollerOf({
      answer: async (read) => {
        if (reads.length === 1) await held.promise;
        return reads.length === 1 ? unchanged(read) : [];
      },
    });
    const [early, state, late] = [
      watcher('a', { after: 7 }),
      watcher('a', { after: null }),
      watcher('a', { after: 3 }),
    ];
    poller.watch(early);
    poller.watch(state);
    await clock.advance(20);
    expect(reads[0]!.subscriptions).toEqual([{ kind: 'upload', id: 'a', after: 7 }]);
    poller.watch(late);
    poller.readNow();
    await clock.advance(1000); // no second read runs beside the first
    expect(reads).toHaveLength(1);
    held.resolve();
    await clock.advance(20);
    expect(early.received).toEqual(['a', null]);
    expect(late.received).toEqual([null]);
    expect(reads[1]!.subscriptions).toEqual([{ kind: 'upload', id: 'a', after: 3 }]);
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
    expect(one.received).toEqual([]);
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

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

describe('the number of reads', () => {
  it('is zero, without a timer, while nobody waits', async () => {
    const { poller, clock, reads } = pollerOf();
    await clock.advance(10_000);
    const one = watcher('a');
    poller.watch(one);
    await clock.advance(1000);
    expect(reads.length).toBeGreaterThan(0);
    poller.unwatch(one);
    reads.splice(0);
    expect(clock.timers).toBe(0);
    await clock.advance(10_000);
    expect(reads).toEqual([]);
  });

  it('is one for everything that is due, however many clients wait', async () => {
    const { poller, clock, reads } = pollerOf();
    const all = Array.from({ length: 1000 }, (_, n) => watcher(`paste ${n % 100}`));
    for (const each of all) poller.watch(each);
    await clock.advance(20);
    expect(reads.map(({ subscriptions }) => subscriptions.length)).toEqual([100]);
    expect(all.every(({ received }) => received.length === 1)).toBe(true);
  });

  it.each([200_000, 1])(
    'is two or more with more clients than a call has arguments, for %i pastes',
    async (pastes) => {
      const { poller, clock, reads } = pollerOf({ maxWatchers: 200_000 });
      for (let n = 0; n < 200_000; n++) poller.watch(watcher(`paste ${n % pastes}`));
      await clock.advance(600);
      expect(reads.length).toBeGreaterThan(1);
    },
  );

  it('is 13 a second for 1,000 clients that came at different times and wait long', async () => {
    const { poller, clock, reads } = pollerOf();
    for (const each of watchers(1000)) {
      poller.watch(each);
      await clock.advance(3);
    }
    await clock.advance(10_000);
    reads.splice(0);
    await clock.advance(10_000);
    expect(reads.length).toBeLessThanOrEqual(130);
    expect(reads.at(-1)!.subscriptions).toHaveLength(1000);
  });

  it('is at most 20 a second for 1,000 clients that come and go while everything changes', async () => {
    let changes = 0;
    const { poller, clock, reads } = pollerOf({
      answer: ({ subscriptions }) =>
        subscriptions.map(({ id }) => snapshotOf(id, { progress: { percent: changes++, message: null } })),
    });
    const all = watchers(1000);
    for (const each of all) poller.watch(each);
    await clock.advance(1000);
    reads.splice(0);
    for (const [n, each] of all.entries()) {
      poller.unwatch(each);
      poller.watch(watcher(`new ${n}`));
      await clock.advance(10);
    }
    expect(reads.length).toBeLessThanOrEqual(10 * 20);
  });

  it('is at most 13 a second for one client that waits long', async () => {
    const { poller, clock, reads } = pollerOf();
    poller.watch(watcher('a'));
    await clock.advance(5000);
    reads.splice(0);
    await clock.advance(10_000);
    expect(reads.length).toBeLessThanOrEqual(130);
  });
});

describe('the delay from a change to the read that finds it', () => {
  /** The delays for changes at these times after the wait began, among so many clients that wait as long. */
  async function delaysOf(times: readonly number[], clients: number): Promise<number[]> {
    const { poller, clock, reads } = pollerOf();
    for (const each of watchers(clients)) poller.watch(each);
    await clock.advance(Math.max(...times) + 1000);
    return times.map((time) => reads.find(({ at }) => at > time)!.at - time);
  }

  const times = (count: number, stepMs: number): number[] =>
    Array.from({ length: count }, (_, n) => n * stepMs);

  it('is 20 ms at most during the first 40 ms', async () => {
    expect(Math.max(...(await delaysOf(times(20, 2), 1)))).toBeLessThanOrEqual(20);
  });

  it('is within 50 ms at the median, and 80 ms at most, however long 160 clients wait', async () => {
    const delays = await delaysOf(times(50, 397), 160);
    expect(median(delays)).toBeLessThanOrEqual(50);
    expect(Math.max(...delays)).toBeLessThanOrEqual(80);
  });

  it('is within 50 ms at the median for what ends within 0.8 s, with 1,000 clients', async () => {
    expect(median(await delaysOf(times(20, 41), 1000))).toBeLessThanOrEqual(50);
  });

  it('is 500 ms at most with 1,000 clients', async () => {
    expect(Math.max(...(await delaysOf([7000, 9300, 15_001], 1000)))).toBeLessThanOrEqual(500);
  });

  it('is 20 ms again after a change', async () => {
    let status: Snapshot['status'] = 'queued';
    const { poller, clock, reads } = pollerOf({
      answer: ({ subscriptions }) => subscriptions.map(({ id }) => snapshotOf(id, { status })),
    });
    poller.watch(watcher('a'));
    await clock.advance(10_000);
    status = 'processing';
    reads.splice(0);
    await clock.advance(200);
    const [found, next] = reads;
    expect(next!.at - found!.at).toBeCloseTo(20);
  });

  it('is 20 ms for a client that comes when others have waited long', async () => {
    const { poller, clock, reads } = pollerOf();
    for (const each of watchers(1000)) poller.watch(each);
    await clock.advance(20_000);
    const late = watcher('paste 7');
    poller.watch(late);
    const before = reads.length;
    await clock.advance(50); // the pause of 1,000 clients, when a read has just ended
    expect(reads.length).toBeGreaterThan(before);
    expect(late.received).toEqual(['paste 7']);
  });
});
