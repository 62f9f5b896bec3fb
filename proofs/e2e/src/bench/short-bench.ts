import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { coreTime, cpuSecondsOf, idleShare } from '../usage.ts';
import { type BenchCluster, cpuOf, measureCosts } from './costs.ts';
import { makeLoad, type LoadResult } from './load.ts';
import { measureCreates, shortCodesOf } from './measure.ts';
import { startByHand } from './peers/by-hand.ts';
import { measure } from './peers/measure-peers.ts';

/** What the short benchmark is compared with: medians of its rounds. */
interface Baseline {
  /** The CPU time of a create until the paste is stored, divided by that of the same by hand. */
  readonly createByHand: number;
  /** The CPU time of a read of a hot paste, divided by that of an answer of bare Express. */
  readonly readByExpress: number;
  /** Of a create. */
  readonly walBytes: number;
}

interface Round extends Baseline {
  readonly line: string;
}

interface Result {
  readonly medians: Baseline;
  /** The share of the cores that other programs took during the rounds. */
  readonly others: number;
}

const ROUNDS = 9;
/** A process compiles its hot code in its first requests: creates then cost up to a half more. */
const WARM_UP = 4000;
const CREATES = 1000;
const READS = 3000;
const READS_OF_EXPRESS = 9000;
/**
 * The reads of both alternate in so many parts: other programs slow a core for a second, and a part takes a
 * tenth of that.
 */
const TURNS = 6;

/**
 * Rounds of creates and reads, each next to what it is compared with: a slow machine slows both. The median of
 * nine rounds deviates less than their mean, which one busy second moves.
 */
export async function runShortBench(cluster: BenchCluster, print: (line: string) => void): Promise<Result> {
  const byHand = await startByHand(cluster);
  const express = await startExpress();
  try {
    const warming = await measureCreates(cluster, { count: WARM_UP });
    const hot = shortCodesOf(warming.load).slice(0, 100);
    const createByHand = async (count: number): Promise<LoadResult> => {
      const load = await makeLoad(byHand.url, { count, requestOf: byHand.createOf, expected: 201 });
      await byHand.untilStored();
      return load;
    };
    const read = (url: string, count: number): Promise<LoadResult> =>
      makeLoad(url, {
        count,
        expected: 200,
        requestOf: (n) => ({ method: 'GET', path: `/${hot[n % hot.length] ?? ''}` }),
      });
    await createByHand(WARM_UP);
    await read(cluster.http().url, WARM_UP);
    await read(express.url, WARM_UP);

    /** Neither service does anything while the other one answers. */
    const measureReads = async () => {
      let [seconds, secondsOfExpress] = [0, 0];
      const expressBefore = await express.cpuSeconds();
      const { costs } = await measureCosts(cluster, READS, async () => {
        for (let turn = 0; turn < TURNS; turn += 1) {
          seconds += (await read(cluster.http().url, READS / TURNS)).seconds;
          secondsOfExpress += (await read(express.url, READS_OF_EXPRESS / TURNS)).seconds;
        }
      });
      const cpuMs = (1000 * ((await express.cpuSeconds()) - expressBefore)) / READS_OF_EXPRESS;
      return { costs, seconds, ofExpress: { cpuMs, seconds: secondsOfExpress } };
    };
    const measureRound = async (): Promise<Round> => {
      const creates = await measureCreates(cluster, { count: CREATES });
      const byHands = await measure(byHand, CREATES, () => createByHand(CREATES));
      const reads = await measureReads();
      const [createMs, readMs] = [cpuOf(creates.costs), cpuOf(reads.costs)];
      const { walBytes } = creates.costs;
      const figures = [
        figure('create', createMs, CREATES / creates.load.seconds),
        figure('by hand', byHands.cpuMs, byHands.perSecond),
        figure('read', readMs, READS / reads.seconds),
        figure('bare Express', reads.ofExpress.cpuMs, READS_OF_EXPRESS / reads.ofExpress.seconds),
        `WAL ${walBytes.toFixed(0)} bytes`,
      ];
      return {
        createByHand: createMs / byHands.cpuMs,
        readByExpress: readMs / reads.ofExpress.cpuMs,
        walBytes,
        line: figures.join(', '),
      };
    };
    /** Without the programs of other people. */
    const ownSeconds = async (): Promise<number> =>
      (await byHand.cpuSeconds()) + // with Postgres
      (await express.cpuSeconds()) +
      (await cpuSecondsOf([process.pid, cluster.stack.pid, ...cluster.services.map(({ pid }) => pid)]));
    const [coresBefore, ownBefore] = [coreTime(), await ownSeconds()];
    const rounds: Round[] = [];
    for (let n = 1; n <= ROUNDS; n += 1) {
      const round = await measureRound();
      rounds.push(round);
      print(`round ${n}: ${round.line}`);
    }
    const own = (1000 * ((await ownSeconds()) - ownBefore)) / (coreTime().all - coresBefore.all);
    const others = 1 - idleShare(coresBefore) - own;
    const median = (part: keyof Baseline): number =>
      rounds.map((round) => round[part]).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
    const medians = {
      createByHand: median('createByHand'),
      readByExpress: median('readByExpress'),
      walBytes: median('walBytes'),
    };
    return { medians, others };
  } finally {
    await Promise.all([byHand.stop(), express.stop()]);
  }
}

const figure = (name: string, cpuMs: number, perSecond: number): string =>
  `${name} ${cpuMs.toFixed(cpuMs < 0.1 ? 3 : 2)} ms and ${perSecond.toFixed(0)} a second`;

async function startExpress() {
  const entry = fileURLToPath(new URL('bare-express-main.ts', import.meta.url));
  const server = spawnService({ entry, name: 'bare Express' });
  const [, port] = await server.waitFor(/^listening on (\d+)$/);
  return {
    url: `http://127.0.0.1:${port}`,
    cpuSeconds: () => cpuSecondsOf([server.pid]),
    stop: () => server.stop(),
  };
}

const FILE = new URL('../../bench-baseline.json', import.meta.url);
const MAX_GROWTH = 0.15;
/**
 * Above it the ratios are not judged: creates that get few of the cores are few a second, and share fewer
 * statements.
 */
const MAX_OTHERS = 0.3;

export const readBaseline = (): Baseline => JSON.parse(readFileSync(FILE, 'utf8')) as Baseline;

export function writeBaseline(baseline: Baseline): void {
  writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
}

const NAMES: Readonly<Record<keyof Baseline, string>> = {
  createByHand: 'CPU time of a create, divided by that of the same by hand',
  readByExpress: 'CPU time of a read, divided by that of bare Express',
  walBytes: 'bytes of WAL of a create',
};

/** @returns a line for each value, and whether one grew too much */
export function compare(
  { medians, others }: Result,
  committed: Baseline,
): { readonly lines: readonly string[]; readonly isGood: boolean } {
  const growth = (part: keyof Baseline): number => medians[part] / committed[part] - 1;
  const percent = (value: number, sign: 'always' | 'auto' = 'auto'): string =>
    value.toLocaleString('en', { style: 'percent', signDisplay: sign });
  const parts = Object.keys(NAMES) as (keyof Baseline)[];
  const lines = parts.map((part) => {
    const [now, then] = [medians[part].toFixed(2), committed[part].toFixed(2)];
    return `${NAMES[part]}: ${now}, in the baseline ${then}: ${percent(growth(part), 'always')}`;
  });
  const isBusy = others > MAX_OTHERS;
  if (isBusy) lines.push(`Other programs took ${percent(others)} of the cores: only the WAL is judged.`);
  const judged = isBusy ? (['walBytes'] as const) : parts;
  return { lines, isGood: judged.every((part) => growth(part) <= MAX_GROWTH) };
}
