import { type AttemptCount, decideNextStep, defaultRetryPolicy } from '@pasteflow/domain';
import {
  claimExecutions,
  createPaste,
  createPastes,
  type Database,
  findPasteBySlug,
  findStranded,
  findUndispatched,
  findZombies,
  moveSlug,
  renewLeases,
  requestDeletion,
  rescueStranded,
  retryFailed,
  settleExecutions,
  stampDispatched,
  type Stranded,
  takeDown,
  type UploadSettlement,
  uploadSubject,
  type Zombie,
} from '@pasteflow/postgres';
import { pasteToCreate } from '@pasteflow/postgres/testing';
import { operation, statement, type World } from '../harness/operation.ts';

const nothing = { touches: [] } as const;
const execution = { touches: ['execution'] } as const;
const unlockedExecution = { touches: ['execution'], skips: ['execution'] } as const;
const paste = { touches: ['paste'] } as const;
const retried = { touches: ['paste', 'payload'], skips: ['paste', 'payload'] } as const;
const all = { touches: ['paste', 'execution', 'payload'] } as const;

export const SLUG = 'interleaved-slug';
const LEASE_SECONDS = 6;
const retry = { kind: 'retry', attempt: 2, delayMs: 1000 } as const;

type Ending = Pick<UploadSettlement, 'outcome' | 'nextStep'>;

async function settle(db: Database, { executionId }: World, actor: string, ending: Ending) {
  const settled = await settleExecutions(db, uploadSubject, [{ executionId, ...ending }], {
    actor,
    dispatched: true,
  });
  return { changed: settled.has(executionId) };
}

export const create = statement('create', nothing, async (db, { shortCode }) => {
  await createPaste(db, pasteToCreate({ shortCode }));
  return undefined;
});

export const createInGroup = statement('create in a group', nothing, async (db, { shortCode }) => {
  await createPastes(db, [pasteToCreate({ shortCode }), pasteToCreate()]);
  return undefined;
});

/** Its owner wants the slug of another paste. */
export const createWithSlug = statement('create with the slug', paste, async (db, { userId }) => {
  await createPaste(db, pasteToCreate({ userId, slug: SLUG }));
  return undefined;
});

/** The api, after SQS has accepted the message. */
export const stamp = statement('stamp', execution, async (db, { executionId }) => {
  await stampDispatched(db, [executionId]);
  return undefined;
});

export const relay = operation(
  'relay',
  unlockedExecution,
  (): { found: readonly string[] } => ({ found: [] }),
  [
    {
      read: async (db, _world, state) => {
        const { items: unsent } = await findUndispatched(db, uploadSubject, { graceSeconds: 0, limit: 10 });
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

export const claim = statement('claim', execution, async (db, { shortCode }, actor) => {
  const claims = await claimExecutions(db, uploadSubject, {
    keys: [shortCode],
    actor,
    leaseSeconds: LEASE_SECONDS,
  });
  return { changed: claims.get(shortCode)?.kind === 'claimed' };
});

export const renew = statement('renew', execution, async (db, { executionId }) => {
  await renewLeases(db, [executionId], LEASE_SECONDS);
  return undefined;
});

/** The put has been answered before the settlement begins. */
export const settleStored = statement('settle stored', all, (db, world, actor) => {
  const s3Url = `s3://pasteflow/pastes/${world.shortCode}`;
  world.objects.add(world.shortCode);
  return settle(db, world, actor, { outcome: { kind: 'succeeded', s3Url }, nextStep: { kind: 'done' } });
});

export const settleFailed = statement('settle failed', execution, (db, world, actor) =>
  settle(db, world, actor, { outcome: { kind: 'failed', error: 'S3 answered 500' }, nextStep: retry }),
);

export const settleInterrupted = statement('settle interrupted', execution, (db, world, actor) =>
  settle(db, world, actor, {
    outcome: { kind: 'interrupted' },
    nextStep: { kind: 'retry', attempt: 1, delayMs: 0 },
  }),
);

export const giveUp = statement('give up', all, (db, world, actor) =>
  settle(db, world, actor, {
    outcome: { kind: 'failed', error: 'S3 answered 500' },
    nextStep: { kind: 'give_up', reason: 'six attempts failed' },
  }),
);

/** As the janitor: a loss spends no attempt. */
function lose(work: AttemptCount & { readonly executionId: string }): UploadSettlement {
  const outcome = { kind: 'lost', error: 'worker lost' } as const;
  const nextStep = decideNextStep(outcome, work, defaultRetryPolicy, 0.5);
  return { executionId: work.executionId, outcome, nextStep };
}

export const reap = operation(
  'reap',
  unlockedExecution,
  (): { found: readonly Zombie[] } => ({ found: [] }),
  [
    {
      read: async (db, _world, state) => {
        const { items: zombies } = await findZombies(db, uploadSubject, 10);
        state.found = zombies;
        return state.found.length > 0;
      },
    },
    {
      statement: async (db, _world, actor, { found }) => {
        const endings = found.map(lose);
        const options = { actor, onlyPastLease: true, dispatched: false };
        return { changed: (await settleExecutions(db, uploadSubject, endings, options)).size > 0 };
      },
    },
  ],
);

export const deleteByUser = statement('delete by user', paste, async (db, { pasteId }) => {
  await requestDeletion(db, pasteId);
  return undefined;
});

/** The sweep rescue-stranded. The lock on the execution is that of its insertion. */
export const rescue = operation(
  'rescue',
  { touches: ['paste'], skips: ['paste'] },
  (): { found: readonly Stranded[] } => ({ found: [] }),
  [
    {
      read: async (db, { pasteId }, state) => {
        state.found = await findStranded(db, uploadSubject, { ids: [pasteId] }, 10);
        return state.found.length > 0;
      },
    },
    {
      statement: async (db, _world, actor, { found }) => {
        const rescues = found.map((stranded) => ({
          stranded,
          ending: lose({ ...stranded, executionId: stranded.subjectId }),
        }));
        await rescueStranded(db, uploadSubject, rescues, actor);
        return undefined;
      },
    },
  ],
);

/** `npm run ops -- retry`. */
export const retryByOperator = statement('retry', retried, async (db, { shortCode }, actor) => {
  await retryFailed(db, [shortCode], { actor, reason: null });
  return undefined;
});

/** `npm run ops -- takedown`. A paste that has the code at the end has been taken down. */
export const takeDownByOperator = statement('take down', paste, async (db, { shortCode }, actor) => {
  await takeDown(db, [shortCode], { actor, class: 'malware', reason: 'reported' });
  return undefined;
});

/** The codes of two pastes that were made from the one with the slug. */
export const NEWER = 'newer';
export const RIVAL = 'rival';

const moveTo = (to: string) =>
  statement(`move to ${to}`, { touches: ['paste', 'newer'] }, async (db, { userId, shortCode }, actor) => {
    const before = await findPasteBySlug(db, SLUG);
    const outcome = await moveSlug(db, { slug: SLUG, userId, from: shortCode, to }, actor);
    const present = await findPasteBySlug(db, SLUG);
    const hasMoved = outcome === 'moved' && before?.short_code !== to;
    if (hasMoved && present?.gone !== false) throw new Error('the slug was moved to a paste that has ended');
    return undefined;
  });

export const moveToNewer = moveTo(NEWER);
export const moveToRival = moveTo(RIVAL);

export const deleteNewer = statement('delete newer', { touches: ['newer'] }, async (db, { newerId }) => {
  await requestDeletion(db, newerId);
  return undefined;
});
