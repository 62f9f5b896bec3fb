import type { Choice, Choose } from './run-schedule.ts';

/** The orders to run, one after the other. */
export interface Orders {
  /** null: all orders have been run. */
  next(): Choose | null;
  /** The choices that the last order led to. */
  ran(choices: readonly Choice[]): void;
}

/** Every order, depth first: the last choice that has an alternative takes the next one. */
export function everyOrder(): Orders {
  let prefix: readonly number[] | null = [];
  return {
    next: () => prefix && followPrefix(prefix),
    ran: (choices) => {
      prefix = nextPrefix(choices);
    },
  };
}

function followPrefix(prefix: readonly number[]): Choose {
  return (enabled, moves) => {
    const wanted = prefix[moves];
    return wanted !== undefined && enabled.includes(wanted) ? wanted : enabled[0]!;
  };
}

function nextPrefix(choices: readonly Choice[]): readonly number[] | null {
  const index = choices.findLastIndex(({ enabled, chosen }) => enabled.indexOf(chosen) < enabled.length - 1);
  if (index === -1) return null;
  const { enabled, chosen } = choices[index]!;
  return [...choices.slice(0, index).map((choice) => choice.chosen), enabled[enabled.indexOf(chosen) + 1]!];
}

/** `count` orders, each of random choices. @param random uniform in [0, 1) */
export function randomOrders(count: number, random: () => number): Orders {
  let left = count;
  return {
    next: () => {
      left -= 1;
      return left < 0 ? null : (enabled) => enabled[Math.floor(random() * enabled.length)]!;
    },
    ran: () => {},
  };
}
