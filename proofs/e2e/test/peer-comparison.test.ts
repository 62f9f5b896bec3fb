import { beforeEach, expect, it } from '@jest/globals';
import { Comparison, type Contender, type Running } from '../src/bench/peers/comparison.ts';

interface Fake extends Running {
  readonly figure: number;
}

let started: string[];
let stopped: string[];
let printed: string[];

beforeEach(() => {
  started = [];
  stopped = [];
  printed = [];
});

/** Measures these figures in its rounds, and fails to start when there are no more. */
function contender(name: string, figures: readonly number[]): Contender<Fake> {
  let round = 0;
  return {
    name,
    version: '1.0',
    lacks: 'much',
    install: () => Promise.resolve(),
    start: () => {
      started.push(name);
      const figure = figures[round++];
      if (figure === undefined) return Promise.reject(new Error('the port is in use'));
      return Promise.resolve({ figure, stop: () => Promise.resolve(void stopped.push(name)) });
    },
  };
}

const compare = (contenders: readonly Contender<Fake>[], measure?: (running: Fake) => Promise<number>) =>
  new Comparison<Fake>(
    'Fakes',
    contenders,
    async (running) => ({ 'jobs/s': (await measure?.(running)) ?? running.figure }),
    (line) => printed.push(line),
  );

it('measures in turns, and prints the median of three rounds with the least and the most', async () => {
  const comparison = compare([contender('a', [30, 10, 20]), contender('b', [1, 1, 1])]);
  await comparison.run();
  expect(started.join('')).toBe('ababab');
  expect(stopped.join('')).toBe('ababab');
  comparison.printTable();
  expect(printed).toContain('| a | 1.0 | 3 | 20 (10–30) | much |');
});

it('goes on without a contender that fails, and prints the reason', async () => {
  const comparison = compare([contender('a', []), contender('b', [1, 2, 3])]);
  await comparison.run();
  expect(started.join('')).toBe('abbb');
  comparison.printTable();
  expect(printed).toContain('| b | 1.0 | 3 | 2 (1–3) | much |');
  expect(printed).toContain('\na was left out: the port is in use');
});

it('prints the rounds so far when it is stopped, and stops what runs', async () => {
  const secondRound = Promise.withResolvers<void>();
  const never = Promise.withResolvers<number>();
  const comparison = compare([contender('a', [7, 8, 9])], async ({ figure }) => {
    if (figure === 7) return figure;
    secondRound.resolve();
    return await never.promise;
  });
  const run = comparison.run();
  await secondRound.promise;
  await comparison.stop();
  comparison.printTable();
  expect(stopped).toEqual(['a', 'a']);
  expect(printed).toContain('| a | 1.0 | 1 | 7 (7–7) | much |');
  never.reject(new Error('was stopped'));
  await run;
  expect(started).toEqual(['a', 'a']);
});
