import {
  claimExecutions,
  createAsset,
  createJob,
  jobSubject,
  settleExecutions,
  writeProgress,
  type Database,
  type JobSettlementEnding,
  type NewAsset,
} from '@pasteflow/postgres';
import type { TestUser } from './users.ts';

/** Names a host and a process, as a worker does. */
const ACTOR = 'upload-worker/host-17-4711-ab12';

/** A queued job, inserted without the api. @returns its id */
export async function newJob(db: Database, user: TestUser, jobType = 'export'): Promise<string> {
  const { id } = await createJob(db, { userId: user.id, jobType, parameters: {} });
  return id;
}

/** Claims a job, as the worker does. @returns the id of its execution */
export async function claim(db: Database, jobId: string): Promise<string> {
  const found = (
    await claimExecutions(db, jobSubject, { keys: [jobId], actor: ACTOR, leaseSeconds: 60 })
  ).get(jobId);
  if (found?.kind !== 'claimed') throw new Error(`${jobId} can't be claimed: ${found?.kind}`);
  return found.execution.executionId;
}

export async function progress(
  db: Database,
  { jobId, executionId }: { jobId: string; executionId: string },
  percent: number,
  message: string | null = null,
): Promise<boolean> {
  return await writeProgress(db, { executionId, jobId, percent, message });
}

export async function addAsset(
  db: Database,
  { user, jobId, executionId }: { user: TestUser; jobId: string; executionId: string },
  asset: Pick<NewAsset, 'assetType' | 'storagePath' | 'archive'> & { fileSize?: number },
): Promise<void> {
  const { assetType, storagePath, fileSize = 1, archive } = asset;
  await createAsset(db, {
    executionId,
    asset: {
      jobId,
      userId: user.id,
      assetType,
      url: `s3://pasteflow/${storagePath}`,
      storagePath,
      fileSize,
      archive,
    },
  });
}

/** Ends a job with this outcome. */
export async function end(db: Database, executionId: string, ending: JobSettlementEnding): Promise<void> {
  const settled = await settleExecutions(
    db,
    jobSubject,
    [{ executionId, outcome: { kind: 'succeeded' }, nextStep: { kind: 'done' }, ending }],
    { actor: ACTOR, dispatched: true },
  );
  if (settled.size !== 1) throw new Error(`${executionId} could not be settled`);
}

/** A job that was claimed and has ended. */
export async function endedJob(
  db: Database,
  user: TestUser,
  {
    jobType = 'export',
    status = 'completed',
  }: { jobType?: string; status?: JobSettlementEnding['status'] } = {},
): Promise<string> {
  const jobId = await newJob(db, user, jobType);
  const errorMessage = status === 'completed' ? null : 'some of it went wrong';
  await end(db, await claim(db, jobId), { status, result: { made: 1 }, errorMessage });
  return jobId;
}
