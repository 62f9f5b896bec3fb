import {
  countOlderPastes,
  findClaimsAhead,
  findExecutionsAhead,
  inHalves,
  resetDeletionTimes,
  resetExecutionTimes,
  walkOpenPastes,
  type ExecutionKind,
} from '@pasteflow/postgres';
import { EXECUTIONS, onAll } from './queues/work-queue.ts';
import { inBatches } from './running/batches.ts';
import { MAX_NAMED } from './running/findings.ts';
import type { RefusedRows } from './running/refused-rows.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

/** Rescues a statement. */
const BATCH = 500;

/** Rows of pastes that a run reads in its walk through the table: 14 million in a day of runs each 30 s. */
const WALKED = 5000;

/**
 * Gives work that is not at its end, but has no open execution, a new execution (ADR 27). Such work is
 * stranded: no other process would ever go on with it. An operator strands work who ends or deletes an
 * execution with plain SQL.
 *
 * Each run looks at the oldest payloads and open jobs, and at the next pastes of a walk through the whole
 * table: a paste that lost its payload, too, is found there. Its new execution makes it PROCESSED when S3 has
 * its object, and FAILED otherwise.
 *
 * It also resets the times that are further ahead than they can be, because the clock of Postgres was ahead:
 * nothing would happen until that clock has caught up.
 *
 * `given_up`: jobs and deliveries that were lost too often, and have ended. `outrun`: stranded work that another process has
 * taken care of.
 */
export function createRescueStranded({
  db,
  work,
  quotas,
  bounds,
  logger,
  ...by
}: Pick<
  JanitorContext,
  'db' | 'work' | 'actor' | 'random' | 'quotas' | 'bounds' | 'logger'
>): Sweep<'rescue-stranded'> {
  /** Where the walk goes on. A new process begins at the start. */
  let walkedTo: string | null = null;
  const zero = { rescued: 0, given_up: 0, outrun: 0, reset: 0 };
  return defineSweep('rescue-stranded', zero, async (counts, signal, refused) => {
    const walked = await walkOpenPastes(db, { after: walkedTo, limit: WALKED });
    const waiting = new Set(refused.waiting('pastes'));
    const ahead = [...walked.requestedAhead, ...(await findClaimsAhead(db, BATCH))];
    const reset = await inHalves(
      ahead.filter((id) => !waiting.has(id)),
      (part) => resetDeletionTimes(db, part),
      refused.of('pastes'),
    );
    const deletions = reset.flat();
    counts.reset += deletions.length;
    if (deletions.length > 0)
      logger.warn('times of deletions that were ahead of the clock of Postgres reset', {
        count: deletions.length,
        ids: deletions.slice(0, MAX_NAMED),
      });
    await onAll(work, async (each) => {
      await inBatches({ limit: BATCH, signal }, async (limit) => {
        const count = await resetTimes({ db, logger, bounds }, each.kind, limit, refused);
        counts.reset += count;
        return count;
      });
      const places =
        each.kind === 'upload' ? (['oldest', { ids: walked.open }] as const) : (['oldest'] as const);
      for (const among of places) {
        while (!signal.aborted) {
          const { found, rescued, givenUp } = await each.rescueStranded(among, BATCH, { ...by, refused });
          counts.rescued += rescued;
          counts.given_up += givenUp;
          counts.outrun += found - rescued - givenUp;
          if (found < BATCH || rescued + givenUp === 0) break;
        }
      }
    });
    if (quotas !== null)
      await inHalves(walked.uncounted, (part) => countOlderPastes(db, part), refused.of('pastes'));
    walkedTo = walked.last;
  });
}

/**
 * Resets times of executions that are further ahead than they can be, because the clock of Postgres was ahead. The
 * relay sends the messages again.
 * @returns how many
 */
async function resetTimes(
  { db, logger, bounds }: Pick<JanitorContext, 'db' | 'logger' | 'bounds'>,
  kind: ExecutionKind,
  limit: number,
  refused: RefusedRows,
): Promise<number> {
  const waiting = new Set(refused.waiting(EXECUTIONS));
  const found = await findExecutionsAhead(db, kind, { bounds, limit });
  const own = { delaySeconds: bounds.delaySeconds[kind], leaseSeconds: bounds.leaseSeconds };
  const parts = await inHalves(
    found.filter((id) => !waiting.has(id)),
    (part) => resetExecutionTimes(db, part, own),
    refused.of(EXECUTIONS),
  );
  const ids = parts.flat();
  if (ids.length > 0)
    logger.warn('times that were ahead of the clock of Postgres reset', {
      kind,
      count: ids.length,
      ids: ids.slice(0, MAX_NAMED),
    });
  return ids.length;
}
