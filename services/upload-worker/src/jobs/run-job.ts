import { DependencyUnavailableError, ExecutionTakenError, storedReason } from '@pasteflow/domain';
import {
  WorkFailedError,
  WorkYieldedError,
  type JobContext,
  type JobEnding,
  type JobType,
} from '@pasteflow/jobs';
import { pingDatabase, type ClaimedJob, type Database } from '@pasteflow/postgres';
import { redactText, sleep } from '@pasteflow/runtime';
import { reasonOfS3Error } from '@pasteflow/s3';
import type { WorkerContext } from '../executions/worker-context.ts';

/** How an attempt at a job ended. */
export type JobOutcome =
  /** The work returned its ending. */
  | { readonly kind: 'ended'; readonly ending: JobEnding }
  /** `error` is a stored reason, and `cause` is what the work threw. */
  | {
      readonly kind: 'failed' | 'postponed';
      readonly error: string;
      readonly cause?: unknown;
      readonly notBeforeMs?: number;
    }
  | { readonly kind: 'interrupted'; readonly stops?: number }
  | { readonly kind: 'yielded'; readonly delayMs: number }
  /** Another process has ended the execution, so there is nothing to settle. */
  | { readonly kind: 'lost' };

/**
 * While a new version is rolled out, the old one gets jobs that it does not know: they wait for a worker that does, in
 * all attempts together for minutes.
 */
const OTHER_VERSION_MS = 60_000;

/** Time for aborted work to end before it is abandoned. Part of the 10 s that a stop may take. */
const ABORT_GRACE_MS = 1000;

/** Limits the text that a hostile archive can put into an error, and so into the timeline. */
const MAX_ERROR_CHARACTERS = 500;

const ABANDONED = Symbol('abandoned');

/** Runs one attempt at a job: finds its type, parses its stored parameters, and runs it. Never throws. */
export async function runJob(
  { db, jobTypes, stopping, graceOver }: WorkerContext,
  job: ClaimedJob,
  {
    lost,
    hasBegun,
    onAbandoned,
    ...context
  }: Omit<JobContext<unknown>, 'parameters' | 'signal' | 'stopping'> & {
    /** Aborted when the execution is lost. */
    readonly lost: AbortSignal;
    /** Whether the work has reported progress or created an asset. */
    readonly hasBegun: () => boolean;
    readonly onAbandoned: () => void;
  },
): Promise<JobOutcome> {
  const signal = AbortSignal.any([lost, graceOver]);
  try {
    const found = findWork(job, jobTypes);
    if ('error' in found) {
      const error = storedReason('work_failed', found.error);
      return { kind: 'failed', error, notBeforeMs: OTHER_VERSION_MS };
    }
    const ending = await runUntilAbandoned(signal, () => found.run({ ...context, signal, stopping }));
    if (ending === ABANDONED) onAbandoned();
    else if (!lost.aborted) return { kind: 'ended', ending };
    return { kind: lost.aborted ? 'lost' : 'interrupted' };
  } catch (error) {
    if (lost.aborted || error instanceof ExecutionTakenError) return { kind: 'lost' };
    if (graceOver.aborted || (stopping.aborted && error === stopping.reason)) return { kind: 'interrupted' };
    if (error instanceof WorkYieldedError) return { kind: 'yielded', delayMs: error.delayMs };
    // `postponed` spends no attempt: Postgres kept the work from starting. Only while it does not answer a ping:
    // a statement that always times out would otherwise be postponed forever.
    const isPostponed = isOfPostgres(error) && !hasBegun() && !(await answers(db));
    return { kind: isPostponed ? 'postponed' : 'failed', error: reasonOf(error), cause: error };
  }
}

type Work = (context: Omit<JobContext<unknown>, 'parameters'>) => Promise<JobEnding>;

/** The parameters were valid when they were stored; the schema may have changed since. */
function findWork(
  { jobType, parameters: stored }: ClaimedJob,
  types: ReadonlyMap<string, JobType>,
): { readonly run: Work } | { readonly error: string } {
  const type = types.get(jobType);
  if (type === undefined) return { error: `This version has no job type '${jobType}'.` };
  const { success, data: parameters, error } = type.parameters.safeParse(stored);
  if (success) return { run: async (context) => type.run({ ...context, parameters }) };
  const [issue] = error.issues;
  const what = `${issue?.path.join('.') || 'parameters'}: ${issue?.message ?? 'unknown'}`;
  return { error: `The parameters are not valid in this version: ${what}` };
}

/** The result of the work, or ABANDONED when it does not end within ABORT_GRACE_MS after its abort. */
async function runUntilAbandoned<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | typeof ABANDONED> {
  signal.throwIfAborted(); // not started when aborted first
  const ended = new AbortController();
  const abandoned = new Promise<typeof ABANDONED>((resolve) => {
    signal.addEventListener(
      'abort',
      () => void sleep(ABORT_GRACE_MS, ended.signal).then(() => resolve(ABANDONED)),
      { signal: ended.signal },
    );
  });
  const working = work();
  try {
    return await Promise.race([working, abandoned]);
  } finally {
    ended.abort();
    working.catch(() => {}); // ignored once the work is abandoned
  }
}

function isOfPostgres(error: unknown): boolean {
  return error instanceof DependencyUnavailableError && error.dependency === 'postgres';
}

async function answers(db: Database): Promise<boolean> {
  return await pingDatabase(db).then(
    () => true,
    () => false,
  );
}

/**
 * The stored reason of what the work threw. The log gets the whole error. The owner of the job may read the text of
 * WorkFailedError, and what S3 answered, and of no other error. Operators read all of it on their pages, so that it has no
 * more secrets than the log.
 */
function reasonOf(error: unknown): string {
  if (error instanceof DependencyUnavailableError && error.dependency === 's3')
    return reasonOfS3Error(error.cause);
  const message = Error.isError(error) && error.message !== '' ? error.message : String(error);
  return storedReason(classOf(error), redactText(message).slice(0, MAX_ERROR_CHARACTERS));
}

function classOf(error: unknown): 'work_failed' | 'database_unavailable' | 'internal' {
  if (error instanceof WorkFailedError) return 'work_failed';
  return isOfPostgres(error) ? 'database_unavailable' : 'internal';
}
