import type { Snapshot, Subscription } from '@pasteflow/postgres';
import { ChangePoller, type Watcher } from '../../src/live/change-poller.ts';
import { FakeClock } from './fake-clock.ts';

export const snapshotOf = (id: string, more: Partial<Snapshot> = {}): Snapshot => ({
  id,
  status: 'IN_PROGRESS',
  settled: false,
  gone: false,
  progress: null,
  transitions: [],
  complete: true,
  ...more,
});

interface Read {
  readonly at: number;
  readonly subscriptions: readonly Subscription[];
}

type AnswerOfRead = (read: Read) => readonly Snapshot[] | Promise<readonly Snapshot[]>;

/** A poller on a clock of its own. Without `answer`, nothing ever changes. */
export function pollerOf({
  answer = unchanged,
  maxWatchers = 10_000,
}: { answer?: AnswerOfRead; maxWatchers?: number } = {}) {
  const clock = new FakeClock();
  const reads: Read[] = [];
  const counts: [string, number][] = [];
  const retries: number[] = [];
  const poller = new ChangePoller({
    clock,
    maxWatchers,
    onCount: (purpose, count) => counts.push([purpose, count]),
    onReadFailed: (_, { retryInMs }) => retries.push(retryInMs),
    read: async (subscriptions) => {
      const read = { at: clock.now(), subscriptions };
      reads.push(read);
      return new Map((await answer(read)).map((each) => [each.id, each]));
    },
  });
  return { poller, clock, reads, counts, retries };
}

export const unchanged: AnswerOfRead = ({ subscriptions }) => subscriptions.map(({ id }) => snapshotOf(id));

interface TestWatcher extends Watcher {
  readonly received: (string | null)[];
}

export function watcher(id: string, wants: ReturnType<Watcher['wants']> = { after: 0 }): TestWatcher {
  const received: (string | null)[] = [];
  return {
    purpose: 'events',
    kind: 'upload',
    id,
    received,
    wants: () => wants,
    onSnapshot: (snapshot) => received.push(snapshot?.id ?? null),
    onStop: () => received.push('stop'),
  };
}

export const watchers = (count: number): TestWatcher[] =>
  Array.from({ length: count }, (_, n) => watcher(`paste ${n}`));
