import {
  databaseTime,
  estimateLivePastes,
  findStuck,
  readStateFigures,
  readSweepRuns,
  type Database,
  type Stuck,
} from '@pasteflow/postgres';
import { createQueue, deadLetterQueueName, queueCounts, type SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from '../config.ts';
import { sweepNames, type SweepName } from '../sweeping/sweep.ts';

export interface Status {
  /** By the database's clock. */
  readonly at: Date;
  readonly states: readonly {
    readonly machine: string;
    readonly state: string;
    readonly count: number;
    /** The planner's estimate, or as many as are counted at most. */
    readonly approximate: boolean;
    readonly oldest_seconds: number | null;
  }[];
  readonly zombies: Readonly<Record<string, number>>;
  readonly unsent: Readonly<Record<string, number>>;
  /** The longest stuck of each sort. */
  readonly stuck: readonly {
    readonly what: Stuck['what'];
    readonly kind: string;
    readonly subject: string;
    readonly attempt: number | null;
    readonly worker_id: string | null;
    readonly seconds: number;
  }[];
  readonly queues: readonly {
    readonly queue: string;
    readonly visible: number | null;
    readonly in_flight: number | null;
    readonly delayed: number | null;
    /** Why there are no figures. */
    readonly error: string | null;
  }[];
  readonly sweeps: readonly {
    readonly sweep: SweepName;
    readonly interval_seconds: number;
    /** null: it has never run. */
    readonly outcome: string | null;
    readonly ended_at: Date | null;
    readonly last_success_at: Date | null;
    readonly seconds: number | null;
    readonly counts: Readonly<Record<string, number>>;
    readonly janitor: string | null;
    /** As the alert has it: half as long again as its interval, and a minute, without a run that ended well. */
    readonly overdue: boolean;
  }[];
}

export interface StatusSources {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly config: JanitorConfig;
}

/** Of each sort of what is stuck. */
const NAMED = 10;

/** Nothing is counted further. */
const MOST_COUNTED = 100_000;

/** Nearly the whole table: the planner's estimate will do. */
const live = { machine: 'paste_deletion', state: 'NOT_EXPIRED' };

export async function readStatus({ db, sqs, config }: StatusSources): Promise<Status> {
  const queues = readQueues(sqs, config);
  try {
    return { ...(await readDatabase(db, config)), queues: await queues };
  } finally {
    await queues; // a request that goes on when its client has been ended would keep the process
  }
}

async function readDatabase(
  db: Database,
  { sweeps: settings }: JanitorConfig,
): Promise<Omit<Status, 'queues'>> {
  const at = await databaseTime(db);
  const figures = await readStateFigures(db, MOST_COUNTED);
  const livePastes = await estimateLivePastes(db);
  const stuck = await findStuck(db, {
    limit: NAMED,
    deletionStuckAfterSeconds: settings.deletionStuckAfterSeconds,
  });
  const runs = await readSweepRuns(db);
  return {
    at,
    states: [
      ...figures.states.map(({ machine, state, count, oldestSeconds }) => ({
        machine,
        state,
        count,
        approximate: count >= MOST_COUNTED,
        oldest_seconds: oldestSeconds,
      })),
      { ...live, count: livePastes, approximate: true, oldest_seconds: null },
    ],
    zombies: Object.fromEntries(figures.kinds.map(({ kind, zombies }) => [kind, zombies])),
    unsent: Object.fromEntries(figures.kinds.map(({ kind, unsent }) => [kind, unsent])),
    stuck: stuck.map(({ workerId, ...rest }) => ({ ...rest, worker_id: workerId })),
    sweeps: sweepNames.map((sweep) => {
      const run = runs.find((each) => each.sweep === sweep);
      const interval = settings.intervalSeconds[sweep];
      const last = run?.last_success_at ?? null;
      return {
        sweep,
        interval_seconds: interval,
        outcome: run?.outcome ?? null,
        ended_at: run?.ended_at ?? null,
        last_success_at: last,
        seconds: run?.seconds ?? null,
        counts: run?.counts ?? {},
        janitor: run?.janitor ?? null,
        overdue: last === null || (at.getTime() - last.getTime()) / 1000 > 60 + 1.5 * interval,
      };
    }),
  };
}

/** SQS may be what is wrong: the rest is shown without it. */
function readQueues(sqs: SqsClient, { queues }: JanitorConfig): Promise<Status['queues']> {
  const names = [queues.uploads, queues.jobs].flatMap((name) => [name, deadLetterQueueName(name)]);
  return Promise.all(
    names.map(async (queue) => {
      try {
        const { visible, inFlight, delayed } = await queueCounts(sqs, createQueue(sqs, queue));
        return { queue, visible, in_flight: inFlight, delayed, error: null };
      } catch (error) {
        const none = { visible: null, in_flight: null, delayed: null };
        return { queue, ...none, error: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}
