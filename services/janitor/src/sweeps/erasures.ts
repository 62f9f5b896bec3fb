import {
  cancelJob,
  findEndedJobsOf,
  findOpenErasures,
  findOpenJobsOf,
  finishErasure,
  mayBeOfOneRow,
  removeDeliveriesOfRemoved,
  removeOwnedRows,
  removeRemovedWebhooks,
  requestDeletionsOf,
  searchDeliveriesOfRemoved,
  searchRemovedWebhooks,
  searchUndeleted,
  startErasure,
  type Portion,
} from '@pasteflow/postgres';
import { inBatches, inPortionedBatches, type PortionedBatches } from './running/batches.ts';
import type { RefusedRows } from './running/refused-rows.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import { removeWithFolders } from './jobs.ts';
import type { JanitorContext } from './context.ts';

/** Pastes a statement: some 50 ms. */
const PASTES = 1000;

/** Deliveries a statement. */
const DELIVERIES = 1000;

/** Jobs whose folders are emptied together. */
const JOBS = 200;

/**
 * Deletes what erased users have left, and the deliveries of all endpoints of webhooks that were removed. Each step finds what is left of its kind, so that a run after a kill
 * goes on where the last one stopped, and two janitors do no harm to each other. Pastes are deleted by the
 * cleanup, with its limits and in its order: an erasure is done in a later run, when nothing is left. A run
 * looks at all erasures, so that those that wait for uploads or for S3 hold up no others.
 */
export function createErasures({
  db,
  store,
  actor,
  logger,
}: Pick<JanitorContext, 'db' | 'store' | 'actor' | 'logger'>): Sweep<'erasures'> {
  const zero = {
    pastes: 0,
    cancelled: 0,
    removed: 0,
    refused: 0,
    objects: 0,
    aborted: 0,
    deliveries: 0,
    endpoints: 0,
    done: 0,
  };
  /** A user with a row that is locked or refused is left to a later run, so that it holds up no others. */
  async function ofEach(
    users: readonly string[],
    { signal, refused }: { readonly signal: AbortSignal; readonly refused: RefusedRows },
    act: (userId: string) => Promise<void>,
  ): Promise<void> {
    for (const userId of users) {
      if (signal.aborted) return;
      try {
        await act(userId);
      } catch (error) {
        if (!mayBeOfOneRow(error)) throw error;
        refused.of('erasures')(userId, error);
        logger.warn('erasure left to a later run', { user_id: userId, error });
      }
    }
  }

  return defineSweep('erasures', zero, async (counts, signal, refused) => {
    const waiting = refused.waiting('erasures');
    const users = (await findOpenErasures(db)).filter((userId) => !waiting.includes(userId));
    const run = { signal, refused };
    // First of all users what needs no S3: from then on, no paste of them is served.
    await ofEach(users, run, async (userId) => {
      await startErasure(db, userId, actor);
      // Before the pastes the jobs, which create pastes until their executions have ended.
      for (const jobId of await findOpenJobsOf(db, userId))
        if ((await cancelJob(db, { jobId, actor, by: 'the erasure of its owner' })) !== null)
          counts.cancelled += 1;
      await inPortionedBatches(
        { db, table: 'pastes', limit: PASTES, signal, refused },
        {
          search: (portion: Portion) => searchUndeleted({ userId, ...portion }),
          run: (portion: Portion) => requestDeletionsOf(db, { userId, ...portion }),
        },
        (requested) => {
          counts.pastes += requested;
          return requested;
        },
      );
    });
    await removeRemoved({ db, limit: DELIVERIES, signal, refused }, counts);
    await ofEach(users, run, async (userId) => {
      const seen: string[] = [];
      await inBatches({ limit: JOBS, signal }, async (limit) => {
        const ended = await findEndedJobsOf(db, { userId, without: seen, limit });
        await removeWithFolders({ db, store, logger }, ended, { counts, signal, refused });
        seen.push(...ended.map(({ id }) => id));
        return ended.length;
      });
      await removeOwnedRows(db, userId);
      if (!(await finishErasure(db, userId, actor))) return;
      counts.done += 1;
      logger.info('user erased', { user_id: userId });
    });
  });
}

/** The deliveries of endpoints that were removed, by their owners or by an erasure, and then the endpoints. */
async function removeRemoved(
  batches: Omit<PortionedBatches, 'table'>,
  counts: { deliveries: number; endpoints: number },
): Promise<void> {
  const { db } = batches;
  const deliveries = {
    search: searchDeliveriesOfRemoved,
    run: (portion: Portion) => removeDeliveriesOfRemoved(db, portion),
  };
  await inPortionedBatches({ ...batches, table: 'webhook_deliveries' }, deliveries, (removed) => {
    counts.deliveries += removed;
    return removed;
  });
  const endpoints = {
    search: searchRemovedWebhooks,
    run: (portion: Portion) => removeRemovedWebhooks(db, portion),
  };
  await inPortionedBatches({ ...batches, table: 'webhook_endpoints' }, endpoints, (removed) => {
    counts.endpoints += removed;
    return removed;
  });
}
