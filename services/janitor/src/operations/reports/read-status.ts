import {
  countReported,
  findLostWork,
  findRefusedUploads,
  findStuck,
  listFailedCauses,
  listWorkKinds,
  readInstallation,
  readInventory,
  readStateFigures,
  readSweepRuns,
  type Database,
  type Inventory,
  type RefusedUploads,
  type StateFigures,
} from '@pasteflow/postgres';
import { createQueue, deadLetterQueueName, queueCounts, type SqsClient } from '@pasteflow/sqs';
import type { ObjectStore } from '@pasteflow/s3';
import { timeBoundsOf, type JanitorConfig } from '../../config.ts';
import type { Operations } from '../operations.ts';
import { keptVersionsOrWhyNot } from './kept-versions.ts';
import { times } from '../../sweeps/context.ts';
import { sweepNames } from '../../sweep-names.ts';

/** As `npm run ops -- status --json` prints it, after what follows from it (needs.ts). */
export type Status = Awaited<ReturnType<typeof readStatus>>;

/** Those that have been stuck longest. */
const MAX_STUCK_OF_EACH_KIND = 10;

/** Those with the most losses. */
const MAX_LOST_OF_EACH_KIND = 10;

const MAX_COUNTED = 100_000;

/** Nearly every row of the table is in this state: beyond some thousands the planner estimates how many. */
const live = { machine: 'paste_deletion', state: 'NOT_EXPIRED' };

export async function readStatus({
  config,
  sqs,
  db,
  store,
}: Pick<Operations, 'config' | 'sqs' | 'db'> & {
  /** null: what the bucket keeps is not read. */
  readonly store: Pick<ObjectStore, 'keptVersions'> | null;
}) {
  const queues = readQueues(sqs, config);
  try {
    const kept_versions = store === null ? null : await keptVersionsOrWhyNot(store);
    return { ...(await readDatabase(db, config)), queues: await queues, kept_versions };
  } finally {
    await queues; // a request that outlives its client would keep the process running
  }
}

/** The numbers of the lists, as JSON has them. */
export const countsOf = ({ users, pastes, jobs, workers, erasures, reported, retryable }: Inventory) => ({
  users,
  pastes,
  jobs,
  workers,
  erasures,
  reports: reported,
  failed: retryable,
});

async function readDatabase(db: Database, config: JanitorConfig) {
  const { sweepIntervalSeconds, quotas } = config;
  const bounds = timeBoundsOf(config);
  const { createdAt, now: at } = await readInstallation(db);
  const figures = await readStateFigures(db, MAX_COUNTED, bounds);
  const inventory = await readInventory(db, { hasQuotas: quotas !== null });
  const stuck = await findStuck(db, {
    limit: MAX_STUCK_OF_EACH_KIND,
    deletionStuckAfterSeconds: times.deletionStuckAfterSeconds,
    bounds,
  });
  const lost = await findLostWork(db, MAX_LOST_OF_EACH_KIND);
  const refused: readonly RefusedUploads[] = await findRefusedUploads(db);
  const kinds = await listWorkKinds(db);
  const runs = await readSweepRuns(db);
  const failed = await listFailedCauses(db);
  const reported = await countReported(db);
  const ofKinds = (count: (each: StateFigures['kinds'][number]) => number): Record<string, number> =>
    Object.fromEntries(figures.kinds.map((each) => [each.kind, count(each)]));
  return {
    /** By the database's clock. */
    at,
    /** What is going on, in a few numbers. */
    glance: {
      pastes: inventory.pastes,
      bytes: inventory.bytes,
      created_per_minute: inventory.createdPerMinute,
      oldest_waiting: oldestWaiting(figures),
      /** In the last day. */
      failed: inventory.failed,
    },
    counts: countsOf(inventory),
    states: [
      ...figures.states.map(({ machine, state, count, oldestSeconds }) => ({
        machine,
        state,
        count,
        /** An estimate of the planner, or a count that stopped at its limit. */
        approximate: count >= MAX_COUNTED,
        oldest_seconds: oldestSeconds,
      })),
      { ...live, ...inventory.notExpired, oldest_seconds: null },
    ],
    /** The FAILED pastes that can be retried, by their reasons. */
    failed: failed.map(({ oldestAt, newestAt, ...rest }) => ({
      ...rest,
      oldest_at: oldestAt,
      newest_at: newestAt,
    })),
    /** The pastes with open reports. */
    reported: { pastes: reported.pastes, held: reported.held, oldest_at: reported.oldestAt },
    /** Kinds of work that operators have paused. */
    paused: kinds.filter(({ paused_at }) => paused_at !== null),
    zombies: ofKinds(({ zombies }) => zombies),
    unsent: ofKinds(({ unsent }) => unsent),
    /** Among the oldest work. */
    stranded: ofKinds(({ stranded }) => stranded),
    /** Due, or leased, for longer than can be. */
    ahead: ofKinds(({ ahead }) => ahead),
    stuck: stuck.map(({ workerId, ...rest }) => ({ ...rest, worker_id: workerId })),
    /** Among the oldest uploads: those that wait because S3 refuses everything, by its answer. */
    refused,
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
        /** The rows that Postgres refuses to the sweep. */
        refused: run?.refused ?? [],
        janitor: run?.janitor ?? null,
        /**
         * As in the alert: no successful run for 1.5 intervals and a minute. A new database counts as a run.
         */
        overdue: (at.getTime() - (last ?? createdAt).getTime()) / 1000 > 60 + 1.5 * interval,
      };
    }),
  };
}

/** The work that has been due for longest, whatever it waits for. */
function oldestWaiting({ kinds }: StateFigures): { readonly kind: string; readonly seconds: number } | null {
  const waiting = kinds.flatMap(({ kind, oldestWaitingSeconds: seconds }) =>
    seconds === null ? [] : [{ kind, seconds }],
  );
  return waiting.toSorted((a, b) => b.seconds - a.seconds)[0] ?? null;
}

/** SQS may be the part that fails, so the rest of the status is shown without it. */
function readQueues(sqs: SqsClient, { queues }: JanitorConfig) {
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
