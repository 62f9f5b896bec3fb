import { describe, expect, it } from '@jest/globals';
import { ReceiveTurns, type ReceiveTurn } from '../src/consumer-group.ts';

/** A group of consumers that want to receive. `begun` has the numbers of those that do. */
function group(consumers: number) {
  const turns = new ReceiveTurns();
  const begun = new Set<number>();
  const all = Array.from({ length: consumers }, () => turns.add());
  const begin = (n: number) => void all[n]!.begin().then(() => begun.add(n));
  all.forEach((_, n) => begin(n));
  return {
    turns,
    begun: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return [...begun].toSorted((a, b) => a - b);
    },
    end: (n: number, what: Parameters<ReceiveTurn['end']>[0]) => {
      begun.delete(n);
      all[n]!.end(what);
      begin(n);
      return all[n]!.waitSeconds;
    },
    endTwice: (n: number) => {
      all[n]!.end('none');
      all[n]!.end('none');
    },
  };
}

describe('consumers of one queue', () => {
  it('receive one after the other while it is empty or brings less than full batches', async () => {
    const { begun, end } = group(3);
    expect(await begun()).toEqual([0]);
    for (const what of ['none', 'error', 'messages', 'messages', 'none'] as const) {
      const [only, ...others] = await begun();
      expect(others).toEqual([]);
      end(only!, what);
    }
    expect(await begun()).toHaveLength(1);
  });

  it.each(['messages', 'none'] as const)(
    'all receive while it has full batches, and one of them after receives of %s',
    async (what) => {
      const { begun, end } = group(3);
      await begun();
      end(0, 'a full batch');
      expect(await begun()).toEqual([0, 1, 2]);
      for (const n of [0, 1, 2]) end(n, what);
      expect(await begun()).toHaveLength(1);
    },
  );

  it('wait longer with each receive that brings nothing, up to 5 s', async () => {
    const { begun, end } = group(1);
    const waits: number[] = [];
    for (const what of ['none', 'none', 'none', 'none', 'messages', 'none', 'error'] as const) {
      await begun();
      waits.push(end(0, what));
    }
    expect(waits).toEqual([2, 4, 5, 5, 1, 2, 1]);
  });

  it('do not wait for their turn once the group stops', async () => {
    const { begun, turns } = group(3);
    await begun();
    turns.stop();
    expect(await begun()).toEqual([0, 1, 2]);
  });

  it('give up their turn once', async () => {
    const { begun, endTwice } = group(3);
    await begun();
    endTwice(0);
    expect(await begun()).toEqual([0, 1]);
  });
});
