import {
  estimateLivePastes,
  findLostWork,
  findStuck,
  readInstallation,
  readStateFigures,
  readSweepRuns,
  type Database,
  type Stuck,
} from '@pasteflow/postgres';
import { createQueue, deadLetterQueueName, queueCounts, type SqsClient } from '@pasteflow/sqs';
import type { JanitorConfig } from '../config.ts';
import { sweepNames, type SweepName } from '../sweep-runner/sweep.ts';

export interface Status {
  /** By the database's clock. */
  readonly at: Date;
  readonly states: readonly {
    readonly machine: string;
    readonly state: string;
    readonly count: number;
    /** True for an estimate of the planner, and when counting stopped at its limit. */
    readonly approximate: boolean;
    readonly oldest_seconds: number | null;
  }[];
  readonly zombies: Readonly<Record<string, number>>;
  readonly unsent: Readonly<Record<string, number>>;
  /** Among the oldest work. */
  readonly stranded: Readonly<Record<string, number>>;
  /** Of each kind of stuck work, the 10 that have been stuck longest. */
  readonly stuck: readonly {
    readonly what: Stuck['what'];
    readonly kind: string;
    readonly subject: string;
    readonly attempt: number | null;
    readonly worker_id: string | null;
    readonly seconds: number;
  }[];
  /** Of the uploads and of the jobs that were lost more than three times, the 10 with the most losses. */
  readonly lost: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly losses: number;
    readonly status: string;
    readonly run_at: Date;
    readonly worker_id: string | null;
  }[];
  readonly queues: readonly {
    readonly queue: string;
    readonly visible: number | null;
    readonly in_flight: number | null;
    readonly delayed: number | null;
    /** Why there are no figures; null when there are. */
    readonly error: string | null;
  }[];
  readonly sweeps: readonly {
    readonly sweep: SweepName;
    readonly interval_seconds: number;
    /** null when the sweep has never run. */
    readonly outcome: string | null;
    readonly ended_at: Date | null;
    readonly last_success_at: Date | null;
    readonly seconds: number | null;
    readonly counts: Readonly<Record<string, number>>;
    readonly janitor: string | null;
    /** As in the alert: no successful run for 1.5 intervals and a minute. A new database counts as a run. */
    readonly overdue: boolean;
  }[];
}

export interface StatusSources {
  readonly db: Database;
  readonly sqs: SqsClient;
  readonly config: JanitorConfig;
}

const MAX_STUCK_OF_EACH_KIND = 10;

const MAX_LOST_OF_EACH_KIND = 10;

const MAX_COUNTED = 100_000;

/** Nearly every row of the table is in this state, so the planner's estimate replaces a count. */
const live = { machine: 'paste_deletion', state: 'NOT_EXPIRED' };

export async function readStatus({ db, sqs, config }: StatusSources): Promise<Status> {
  const queues = readQueues(sqs, config);
  try {
    return { ...(await readDatabase(db, config)), queues: await queues };
  } finally {
    await queues; // a request that outlives its client would keep the process running
  }
}

async function readDatabase(
  db: Database,
  { sweeps: settings, sweepIntervalSeconds }: JanitorConfig,
): Promise<Omit<Status, 'queues'>> {
  const { createdAt, now: at } = await readInstallation(db);
  const figures = await readStateFigures(db, MAX_COUNTED);
  const livePastes = await estimateLivePastes(db);
  const stuck = await findStuck(db, {
    limit: MAX_STUCK_OF_EACH_KIND,
    deletionStuckAfterSeconds: settings.deletionStuckAfterSeconds,
  });
  const lost = await findLostWork(db, MAX_LOST_OF_EACH_KIND);
  const runs = await readSweepRuns(db);
  return {
    at,
    states: [
      ...figures.states.map(({ machine, state, count, oldestSeconds }) => ({
        machine,
        state,
        count,
        approximate: count >= MAX_COUNTED,
        oldest_seconds: oldestSeconds,
      })),
      { ...live, count: livePastes, approximate: true, oldest_seconds: null },
    ],
    zombies: Object.fromEntries(figures.kinds.map(({ kind, zombies }) => [kind, zombies])),
    unsent: Object.fromEntries(figures.kinds.map(({ kind, unsent }) => [kind, unsent])),
    stranded: Object.fromEntries(figures.kinds.map(({ kind, stranded }) => [kind, stranded])),
    stuck: stuck.map(({ workerId, ...rest }) => ({ ...rest, worker_id: workerId })),
    lost: lost.map(({ runAt, workerId, ...rest }) => ({ ...rest, run_at: runAt, worker_id: workerId })),
    sweeps: sweepNames.map((sweep) => {
      const run = runs.find((each) => each.sweep === sweep);
      const interval = sweepIntervalSeconds[sweep];
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
        overdue: (at.getTime() - (last ?? createdAt).getTime()) / 1000 > 60 + 1.5 * interval,
      };
    }),
  };
}

/** SQS may be the part that fails, so the rest of the status is shown without it. */
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
