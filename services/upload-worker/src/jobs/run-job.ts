import { DependencyUnavailableError, ExecutionTakenError } from '@pasteflow/domain';
import type { JobContext, JobEnding, JobType } from '@pasteflow/jobs';
import type { ClaimedJob } from '@pasteflow/postgres';
import { sleep } from '@pasteflow/runtime';

/** How an attempt at a job ended. */
export type JobOutcome =
  /** The work came to an end by itself. */
  | { readonly kind: 'ended'; readonly ending: JobEnding }
  /** As for any attempt; `cause` is what the work threw. */
  | { readonly kind: 'failed' | 'postponed'; readonly error: string; readonly cause: unknown }
  | { readonly kind: 'interrupted' }
  /** It isn't this worker's any more: there is nothing to settle. */
  | { readonly kind: 'lost' };

export interface RunJobOptions {
  readonly types: ReadonlyMap<string, JobType>;
  /** Aborted when the execution is lost. */
  readonly lost: AbortSignal;
  /** Aborted when the worker is being stopped. */
  readonly graceOver: AbortSignal;
  /** Whether Postgres answers at this moment. */
  readonly postgresAnswers: () => Promise<boolean>;
  /** Whether the work has reported or made anything. */
  readonly hasBegun: () => boolean;
  readonly onAbandoned: () => void;
}

/** Work that was told to end has this long to do so; then it is left behind. It is part of the 10 s that a stop may take. */
const ABORT_GRACE_MS = 1000;

/** Keeps what a hostile archive can put into a message from filling the timeline. */
const MAX_ERROR_CHARACTERS = 500;

const ABANDONED = Symbol('left behind');

/** One attempt at a job: finds its type, reads its parameters once more, and does the work. Never throws. */
export async function runJob(
  job: ClaimedJob,
  context: Omit<JobContext<unknown>, 'parameters' | 'signal'>,
  options: RunJobOptions,
): Promise<JobOutcome> {
  const { lost, graceOver, onAbandoned } = options;
  const signal = AbortSignal.any([lost, graceOver]);
  try {
    const found = findWork(job, options.types);
    if ('error' in found) return cannotBeDone(found.error);
    const ending = await runUntilAbandoned(signal, () => found.run({ ...context, signal }));
    if (ending === ABANDONED) onAbandoned();
    else if (!lost.aborted) return { kind: 'ended', ending };
    return { kind: lost.aborted ? 'lost' : 'interrupted' };
  } catch (error) {
    if (lost.aborted || error instanceof ExecutionTakenError) return { kind: 'lost' };
    if (graceOver.aborted) return { kind: 'interrupted' };
    return { kind: await kindOf(error, options), error: describe(error), cause: error };
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

function cannotBeDone(error: string): JobOutcome {
  return { kind: 'ended', ending: { status: 'failed', result: {}, error } };
}

/** What the work comes to, or ABANDONED when it doesn't end within ABORT_GRACE_MS of its signal. */
async function runUntilAbandoned<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | typeof ABANDONED> {
  signal.throwIfAborted(); // told to end before it began: it is not begun
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
    working.catch(() => {}); // of no interest once it is left behind
  }
}

/**
 * Postponed, so that no attempt is spent, is what Postgres kept from starting. Only while it really is away: work that Postgres can't do,
 * e.g. a statement that always takes too long, would else be postponed for ever.
 */
async function kindOf(error: unknown, options: RunJobOptions): Promise<'failed' | 'postponed'> {
  const isAway = error instanceof DependencyUnavailableError && error.dependency === 'postgres';
  return isAway && !options.hasBegun() && !(await options.postgresAnswers()) ? 'postponed' : 'failed';
}

/** For the job's owner, and for the timeline: the message alone. The log gets all of it. */
function describe(error: unknown): string {
  const message = Error.isError(error) && error.message !== '' ? error.message : String(error);
  return message.slice(0, MAX_ERROR_CHARACTERS);
}
