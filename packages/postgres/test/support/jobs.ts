import { createHash, randomBytes } from 'node:crypto';
import { defaultRetryPolicy, decideNextStep, type AttemptOutcome, type JobState } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  createJob,
  jobSubject,
  settleExecutions,
  type ClaimedJob,
  type CreatedJob,
  type Database,
  type ImportEntry,
  type JobSettlement,
  type JobSettlementEnding,
  type Settled,
} from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';

/** A queued job of a new user. */
export async function newJob(
  db: Database,
  parameters: object = {},
): Promise<CreatedJob & { userId: string }> {
  const [user] = await makeUsers(db, 1);
  const userId = user!.id;
  return { ...(await createJob(db, { userId, jobType: 'import', parameters })), userId };
}

export async function claimJob(db: Database, jobId: string, actor = 'w1'): Promise<ClaimedJob> {
  const claims = await claimExecutions(db, jobSubject, { keys: [jobId], actor, leaseSeconds: 600 });
  const claim = claims.get(jobId);
  if (claim?.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(claim)}`);
  return claim.execution;
}

/** A job with its first execution RUNNING. */
export async function runningJob(db: Database, parameters: object = {}): Promise<ClaimedJob> {
  const { id } = await newJob(db, parameters);
  return claimJob(db, id);
}

export const completed: JobSettlementEnding = {
  status: 'completed',
  result: { made: 1 },
  errorMessage: null,
};
export const failure: AttemptOutcome = { kind: 'failed', error: 'the archive is broken' };
export const loss: AttemptOutcome = { kind: 'lost', error: 'worker lost: w1' };

export function settlementOf(
  job: ClaimedJob,
  outcome: AttemptOutcome,
  ending: JobSettlementEnding | null = null,
): JobSettlement {
  return {
    executionId: job.executionId,
    outcome,
    ending,
    nextStep: decideNextStep(outcome, job, defaultRetryPolicy, 0.5),
  };
}

/** The work has reported its end. */
export function endingOf(job: ClaimedJob, ending = completed): JobSettlement {
  return settlementOf(job, { kind: 'succeeded' }, ending);
}

/** @returns null when the settlement had no effect */
export async function settle(
  db: Database,
  settlement: JobSettlement,
  actor = 'w1',
): Promise<Settled<JobState> | null> {
  const settled = await settleExecutions(db, jobSubject, [settlement], { actor, dispatched: true });
  return settled.get(settlement.executionId) ?? null;
}

/** Ends an execution as the reaper ends a zombie. */
export async function reap(db: Database, job: ClaimedJob): Promise<Settled<JobState> | null> {
  await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 second' WHERE id = ${job.executionId} AND status = 'RUNNING'`.execute(
    db,
  );
  const options = { actor: 'reaper', onlyPastLease: true, dispatched: false };
  return (
    (await settleExecutions(db, jobSubject, [settlementOf(job, loss)], options)).get(job.executionId) ?? null
  );
}

/** Makes all PENDING executions due. */
export async function makeDue(db: Database): Promise<void> {
  await sql`UPDATE task_executions SET run_at = now() WHERE status = 'PENDING'`.execute(db);
}

/** An entry of an import for each position, each with a new short code. */
export function entriesOf(job: ClaimedJob, positions: readonly number[], bytes?: Buffer): ImportEntry[] {
  return positions.map((position) => {
    const shortCode = randomBytes(8).toString('hex');
    const content = bytes ?? Buffer.from(`entry ${position}`);
    return {
      position,
      url: `s3://pasteflow/pastes/${shortCode}`,
      storagePath: `pastes/${shortCode}`,
      paste: {
        userId: job.userId,
        visibility: 'private',
        shortCode,
        content,
        contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
        title: `entry ${position}`,
        syntax: null,
        expiresInSeconds: 3600,
        deleteTokenHash: null,
      },
    };
  });
}

/** The positions 0 to count - 1. */
export const firstPositions = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

export function newAsset(job: ClaimedJob) {
  const storagePath = `jobs/${job.jobId}/${job.executionId}.zip`;
  const url = `s3://pasteflow/${storagePath}`;
  return { jobId: job.jobId, userId: job.userId, assetType: 'archive', url, storagePath, fileSize: 10 };
}
