import { createHash } from 'node:crypto';
import {
  type AttemptCount,
  decideNextStep,
  defaultRetryPolicy,
  ExecutionTakenError,
  MAX_JOB_LOSSES,
} from '@pasteflow/domain';
import {
  cancelJob,
  claimExecutions,
  claimJob,
  createAsset,
  createCappedJob,
  type Database,
  findOldJobs,
  findStranded,
  findUndispatched,
  findZombies,
  type ImportEntry,
  importPastes,
  type JobSettlement,
  jobSubject,
  removeJobs,
  type EndedJob,
  renewLeases,
  rescueStranded,
  settleExecutions,
  stampDispatched,
  type Stranded,
  writeProgress,
  type Zombie,
} from '@pasteflow/postgres';
import { findStrayJobObjects } from '@pasteflow/postgres/interleavings';
import { MAX_OPEN_JOBS, operation, statement, type World } from '../harness/operation.ts';

const nothing = { touches: [] } as const;
const execution = { touches: ['execution'] } as const;
const unlockedExecution = { touches: ['execution'], skips: ['execution'] } as const;
const both = { touches: ['execution', 'job'] } as const;
const bothUnlocked = { touches: ['execution', 'job'], skips: ['execution'] } as const;

const LEASE_SECONDS = 6;
const retry = { kind: 'retry', attempt: 2, delayMs: 1000 } as const;

async function settle(
  db: Database,
  { executionId }: World,
  actor: string,
  ending: Omit<JobSettlement, 'executionId'>,
) {
  const settled = await settleExecutions(db, jobSubject, [{ executionId, ...ending }], {
    actor,
    dispatched: true,
  });
  return { changed: settled.has(executionId) };
}

/** A write of the work, which the fence refuses when the execution has ended. */
async function unlessTaken(write: Promise<unknown>): Promise<undefined> {
  await write.catch((error: unknown) => {
    if (!(error instanceof ExecutionTakenError)) throw error;
  });
}

export const stampJob = statement('stamp', execution, async (db, { executionId }) => {
  await stampDispatched(db, [executionId]);
  return undefined;
});

export const relayJobs = operation(
  'relay',
  unlockedExecution,
  (): { found: readonly string[] } => ({ found: [] }),
  [
    {
      read: async (db, _world, state) => {
        const { items: unsent } = await findUndispatched(db, jobSubject, { graceSeconds: 0, limit: 10 });
        state.found = unsent.map(({ executionId }) => executionId);
        return state.found.length > 0;
      },
    },
    {
      statement: async (db, _world, _actor, state) => {
        await stampDispatched(db, state.found);
        return undefined;
      },
    },
  ],
);

/** The claim of a worker: the due job whose turn it is. */
export const claimByTurn = statement('claim', bothUnlocked, async (db, { jobId }, actor) => {
  const claim = await claimJob(db, { jobId, actor, leaseSeconds: LEASE_SECONDS });
  return { changed: claim.kind === 'claimed' };
});

/** The claim of the sweep dead-letters: the job that the message names. */
export const claimNamedJob = statement('claim by name', both, async (db, { jobId }, actor) => {
  const claims = await claimExecutions(db, jobSubject, { keys: [jobId], actor, leaseSeconds: LEASE_SECONDS });
  return { changed: claims.get(jobId)?.kind === 'claimed' };
});

/** Another job of the same user, who has a cap: `take_job_turn` counts the open jobs. */
export const createAnotherJob = statement('create a job', nothing, async (db, { userId }) => {
  await createCappedJob(db, { userId, jobType: 'import', parameters: {} }, MAX_OPEN_JOBS);
  return undefined;
});

export const renewJob = statement('renew', execution, async (db, { executionId }) => {
  await renewLeases(db, [executionId], LEASE_SECONDS);
  return undefined;
});

export const progress = statement('progress', both, async (db, { executionId, jobId }) => {
  await writeProgress(db, { executionId, jobId, percent: 50, message: 'half' });
  return undefined;
});

export const addAsset = statement('add an asset', both, (db, { executionId, jobId, userId, objects }) => {
  const storagePath = `jobs/${jobId}/${executionId}-1.zip`;
  objects.add(storagePath);
  const asset = {
    jobId,
    userId,
    assetType: 'archive',
    url: `s3://pasteflow/${storagePath}`,
    storagePath,
    fileSize: 1,
    archive: { number: 1, checkpoint: { after: null } },
  };
  return unlessTaken(createAsset(db, { executionId, asset }));
});

export const importPaste = statement('import a paste', both, (db, { executionId, jobId, userId }) =>
  unlessTaken(importPastes(db, { executionId, jobId, entries: [entryOf(userId)] })),
);

export const complete = statement('complete', both, (db, world, actor) =>
  settle(db, world, actor, {
    outcome: { kind: 'succeeded' },
    nextStep: { kind: 'done' },
    ending: { status: 'completed', result: {}, errorMessage: null },
  }),
);

export const failAttempt = statement('fail an attempt', execution, (db, world, actor) =>
  settle(db, world, actor, { outcome: { kind: 'failed', error: 'broken' }, nextStep: retry, ending: null }),
);

export const failJob = statement('fail the job', both, (db, world, actor) =>
  settle(db, world, actor, {
    outcome: { kind: 'failed', error: 'broken' },
    nextStep: { kind: 'give_up', reason: 'six attempts failed' },
    ending: null,
  }),
);

/** By the api, for the owner. */
export const cancel = statement('cancel', both, async (db, { jobId }, actor) => ({
  changed: (await cancelJob(db, { jobId, actor, by: 'its owner' })) !== null,
}));

/** As the janitor: a loss spends no attempt. */
function lose(work: AttemptCount & { readonly executionId: string }): JobSettlement {
  const outcome = { kind: 'lost', error: 'worker lost' } as const;
  const nextStep = decideNextStep(outcome, work, { ...defaultRetryPolicy, maxLosses: MAX_JOB_LOSSES }, 0.5);
  return { executionId: work.executionId, outcome, nextStep, ending: null };
}

export const reapJob = operation(
  'reap',
  unlockedExecution,
  (): { found: readonly Zombie[] } => ({ found: [] }),
  [
    {
      read: async (db, _world, state) => {
        const { items: zombies } = await findZombies(db, jobSubject, 10);
        state.found = zombies;
        return state.found.length > 0;
      },
    },
    {
      statement: async (db, _world, actor, { found }) => {
        const endings = found.map(lose);
        const options = { actor, onlyPastLease: true, dispatched: false };
        return { changed: (await settleExecutions(db, jobSubject, endings, options)).size > 0 };
      },
    },
  ],
);

export const removeOldJobs = operation(
  'remove old jobs',
  both,
  (): { old: readonly EndedJob[] } => ({ old: [] }),
  [
    {
      read: async (db, _world, state) => {
        state.old = await findOldJobs(db, { retentionSeconds: 3600, after: null, limit: 10 });
        return state.old.length > 0;
      },
    },
    {
      request: ({ objects }, { old }) => {
        for (const key of objects)
          if (old.some(({ id }) => key.startsWith(`jobs/${id}/`))) objects.delete(key);
      },
    },
    {
      statement: async (db, _world, _actor, { old }) => {
        await removeJobs(db, old);
        return undefined;
      },
    },
  ],
);

/** Lists the folder of the job, reads which objects belong to no asset, and deletes them. */
export const reconcileJob = operation(
  'reconcile',
  nothing,
  (): { listed: readonly string[]; stray: ReadonlySet<string> } => ({ listed: [], stray: new Set() }),
  [
    {
      request: ({ objects }, state) => {
        state.listed = [...objects];
      },
    },
    {
      read: async (db, { jobId }, state) => {
        state.stray = await findStrayJobObjects(
          db,
          state.listed.map((key) => ({ jobId, key })),
        );
        return state.stray.size > 0;
      },
    },
    { request: ({ objects }, { stray }) => stray.forEach((key) => objects.delete(key)) },
  ],
);

/** The sweep rescue-stranded. The lock on the execution is that of its insertion. */
export const rescueJob = operation(
  'rescue',
  { touches: ['job'], skips: ['job'] },
  (): { found: readonly Stranded[] } => ({ found: [] }),
  [
    {
      read: async (db, _world, state) => {
        state.found = await findStranded(db, jobSubject, 'oldest', 10);
        return state.found.length > 0;
      },
    },
    {
      statement: async (db, _world, actor, { found }) => {
        const rescues = found.map((stranded) => ({
          stranded,
          ending: lose({ ...stranded, executionId: stranded.subjectId }),
        }));
        await rescueStranded(db, jobSubject, rescues, actor);
        return undefined;
      },
    },
  ],
);

/** The first entry of an import, always with the same short code. */
function entryOf(userId: string): ImportEntry {
  const content = Buffer.from('imported');
  const shortCode = 'imported';
  return {
    position: 0,
    url: `s3://pasteflow/pastes/${shortCode}`,
    storagePath: `pastes/${shortCode}`,
    paste: {
      userId,
      visibility: 'unlisted',
      shortCode,
      content,
      contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
      title: null,
      syntax: null,
      expiresInSeconds: 3600,
      deleteTokenHash: null,
    },
  };
}
