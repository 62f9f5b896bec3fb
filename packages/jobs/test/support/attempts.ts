import {
  decideNextStep,
  defaultHouse,
  defaultRetryPolicy,
  type AttemptOutcome,
  type House,
} from '@pasteflow/domain';
import { randomShortCode } from '@pasteflow/service-kit';
import {
  claimExecutions,
  createAsset,
  createJob,
  jobSubject,
  listAssets,
  settleExecutions,
  type AssetRow,
  type ClaimedJob,
} from '@pasteflow/postgres';
import { makeUsers } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import {
  jobTypes,
  type JobContext,
  type JobEnding,
  type JobServices,
  type JobType,
  type NewUpload,
} from '../../src/index.ts';
import type { World } from './world.ts';

/** The result of an attempt at a job. */
export interface Attempt {
  readonly job: ClaimedJob;
  /** The ending that it returned, or the error that it threw. */
  readonly ending: JobEnding | null;
  readonly error: unknown;
  readonly progress: readonly number[];
  readonly messages: readonly string[];
  /** The uploads that it dispatched. */
  readonly uploads: readonly NewUpload[];
}

export interface AttemptOptions {
  readonly signal?: AbortSignal;
  readonly stopping?: AbortSignal;
  /** Default: the type of Pasteflow that has the job's name. */
  readonly type?: JobType;
  /** Default: that of the type. */
  readonly work?: (context: JobContext<never>) => Promise<JobEnding>;
  readonly services?: Partial<JobServices>;
  /** Default: by no rule. */
  readonly expiryRules?: House['expiry'];
  readonly onProgress?: (percent: number, job: ClaimedJob) => void;
}

export async function newUser({ db }: World): Promise<string> {
  const [user] = await makeUsers(db, 1);
  return user!.id;
}

/** Creates a queued job with parameters as the api stores them. @returns its id */
export async function newJob(
  { db }: World,
  jobType: string,
  parameters: object,
  userId: string,
  expiryRules: House['expiry'] | null = null,
): Promise<string> {
  const parsed = jobTypes.get(jobType)!.parameters.parse(parameters) as object;
  return (await createJob(db, { userId, jobType, parameters: parsed, expiryRules })).id;
}

/** Claims the job, due or not, and runs it. Does not settle it. */
export async function attempt(
  world: World,
  jobId: string,
  {
    signal = new AbortController().signal,
    stopping = new AbortController().signal,
    services = {},
    onProgress,
    type: given,
    work,
  }: AttemptOptions = {},
): Promise<Attempt> {
  const { db, store } = world;
  // A second ago: at the same moment, another attempt makes the execution due after the snapshot of this one's claim.
  await sql`UPDATE task_executions SET run_at = now() - interval '1 second' WHERE status = 'PENDING'`.execute(
    db,
  );
  const claim = (await claimExecutions(db, jobSubject, { keys: [jobId], actor: 'w', leaseSeconds: 600 })).get(
    jobId,
  );
  if (claim?.kind !== 'claimed') throw new Error(`not claimed: ${JSON.stringify(claim)}`);
  const { execution: job } = claim;
  const { executionId, userId } = job;
  const progress: number[] = [];
  const messages: string[] = [];
  const uploads: NewUpload[] = [];
  const type = given ?? jobTypes.get(job.jobType)!;
  const begin = work ?? ((context: JobContext<never>) => type.run(context));
  let ending: JobEnding | null = null;
  let error: unknown = null;
  try {
    ending = await begin({
      jobId,
      userId,
      executionId,
      parameters: type.parameters.parse(job.parameters) as never,
      house: { ...defaultHouse, expiry: job.expiryRules ?? defaultHouse.expiry },
      signal,
      stopping,
      logger: { info: () => {}, warn: () => {} },
      progress: (percent, message) => {
        progress.push(percent);
        if (message !== undefined) messages.push(message);
        onProgress?.(percent, job);
      },
      createAsset: (asset) =>
        createAsset(db, {
          executionId,
          asset: { ...asset, jobId, userId, url: store.urlOf(asset.storagePath) },
        }),
      services: {
        db,
        store,
        maxPasteBytes: 1024 * 1024,
        maxOpenUploads: { uploads: 1e9, bytes: 1e12 }, // no worker ends them here
        newShortCode: randomShortCode,
        dispatchUploads: (made) => void uploads.push(...made),
        ...services,
      },
    });
  } catch (thrown) {
    error = thrown;
  }
  return { job, ending, error, progress, messages, uploads };
}

/**
 * Ends the attempt's execution. The next attempt is due at once, because the tests do not wait for the delay
 * after a loss.
 */
export async function giveUp(
  { db }: World,
  { job }: Pick<Attempt, 'job'>,
  outcome: AttemptOutcome = { kind: 'interrupted' },
): Promise<void> {
  const decided = decideNextStep(outcome, job, defaultRetryPolicy, 0.5);
  const nextStep = decided.kind === 'retry' ? { ...decided, delayMs: 0 } : decided;
  const settled = await settleExecutions(
    db,
    jobSubject,
    [{ executionId: job.executionId, outcome, nextStep, ending: null }],
    {
      actor: 'w',
      dispatched: true,
    },
  );
  if (settled.size !== 1) throw new Error('there was nothing to settle');
}

/** Creates a job and runs its only attempt. @throws the error of the attempt */
export async function run(
  world: World,
  jobType: string,
  parameters: object,
  { userId, expiryRules, ...options }: AttemptOptions & { userId: string },
): Promise<Attempt & { readonly ending: JobEnding; readonly result: Record<string, unknown> }> {
  const made = await attempt(world, await newJob(world, jobType, parameters, userId, expiryRules), options);
  if (made.ending === null) throw made.error;
  return { ...made, ending: made.ending, result: made.ending.result };
}

/** In the order of their creation. */
export async function assetsOf({ db }: World, jobId: string): Promise<AssetRow[]> {
  const { rows } = await listAssets(db, jobId, { limit: 20_000, after: null });
  return rows.toReversed();
}

export function errorOf(ending: JobEnding): string | null {
  return ending.status === 'completed' ? null : ending.error;
}
