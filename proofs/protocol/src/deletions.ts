import { actions, insertExecution, newRows, once, type Rules, type State } from './state.ts';

/** What the cleanup, the watchdog, the sweep of failed pastes and the reconcile do while nothing fails. */
export const deletionProgress = actions({
  'a deletion is settled': (state, by) => {
    const { paste } = state;
    if (state.cleanups[by]?.objectDeleted !== true) return null;
    const isValid = paste?.deletion === 'DELETION_IN_PROGRESS' && paste.claim === state.cleanups[by].claim;
    const deleted = isValid ? ({ ...paste, deletion: 'DELETED', hasFailedPayload: false } as const) : paste;
    return setCleanup({ ...state, paste: deleted }, by, null);
  },
  'a cleanup deletes the object': (state, by) => {
    const cleanup = state.cleanups[by];
    if (!cleanup || cleanup.objectDeleted) return null;
    return setCleanup({ ...state, object: false }, by, { ...cleanup, objectDeleted: true });
  },
  'a cleanup claims the paste': (state, by, { cleansUp }) => {
    const { paste, nextId: claim } = state;
    if (paste === null || state.cleanups.indexOf(null) !== by || !cleansUp(paste)) return null;
    const claimed = { ...paste, deletion: 'DELETION_IN_PROGRESS', claim } as const;
    return setCleanup({ ...state, paste: claimed, nextId: claim + 1 }, by, { claim, objectDeleted: false });
  },
  'the claim of a dead cleanup is released': once((state) =>
    isClaimHeld(state) ? null : releaseClaim(state),
  ),
  'the row of a failed paste is removed': once((state) => {
    const paste = state.paste?.status === 'FAILED' ? null : state.paste;
    return state.failedSweep === 'deleted' ? { ...state, paste, failedSweep: null } : null;
  }),
  'the object of a failed paste is deleted': once((state) =>
    state.failedSweep === 'claimed' ? { ...state, object: false, failedSweep: 'deleted' } : null,
  ),
  'a failed paste without a payload is claimed': once((state, rules) =>
    state.paste?.hasFailedPayload === false ? claimFailed(state, rules) : null,
  ),
  'reconcile deletes an object': once((state) =>
    state.orphanFound ? { ...state, object: false, orphanFound: false } : null,
  ),
  'reconcile finds an object without a live row': once((state, { isLive }) =>
    state.object && !state.orphanFound && !isLive(state) ? { ...state, orphanFound: true } : null,
  ),
});

/** What a user or an operator may do, and what a sweep does after days. */
export const choices = actions({
  'the deletion is requested': once((state) => {
    const { paste } = state;
    if (paste === null || paste.deletionRequested) return null;
    return { ...state, mayGo: true, paste: { ...paste, deletionRequested: true } };
  }),
  'a failed paste is retried': once((state) => {
    const { paste, retries } = state;
    if (retries === 0 || paste?.status !== 'FAILED' || !paste.hasFailedPayload) return null;
    if (paste.deletionRequested || paste.deletion !== 'NOT_EXPIRED' || state.open.length > 0) return null;
    return insertExecution({ ...state, ...newRows, retries: retries - 1 }, { attempt: 1, losses: 0 }, false);
  }),
  'an old failed paste is claimed': once((state, rules) =>
    state.paste?.hasFailedPayload === true ? claimFailed({ ...state, mayGo: true }, rules) : null,
  ),
  'a tombstone is removed': once((state) =>
    state.paste?.deletion === 'DELETED' ? { ...state, paste: null } : null,
  ),
});

/** What fails. */
export const deletionFaults = actions({
  'S3 refuses a deletion': (state, by) => {
    const cleanup = state.cleanups[by];
    if (!cleanup || cleanup.objectDeleted) return null;
    const released = cleanup.claim === state.paste?.claim ? releaseClaim(state) : null;
    return setCleanup(released ?? state, by, null);
  },
  'a cleanup crashes': (state, by) => (state.cleanups[by] ? setCleanup(state, by, null) : null),
  'the claim of a frozen cleanup is released': once((state) =>
    isClaimHeld(state) ? releaseClaim(state) : null,
  ),
  'the sweep of failed pastes crashes': once((state) =>
    state.failedSweep ? { ...state, failedSweep: null } : null,
  ),
});

function setCleanup(state: State, by: number, cleanup: State['cleanups'][number]): State {
  return { ...state, cleanups: state.cleanups.with(by, cleanup) };
}

function isClaimHeld({ paste, cleanups }: State): boolean {
  return cleanups.some((cleanup) => cleanup?.claim === paste?.claim);
}

function releaseClaim(state: State): State | null {
  const { paste } = state;
  if (paste?.deletion !== 'DELETION_IN_PROGRESS') return null;
  return { ...state, paste: { ...paste, deletion: 'NOT_EXPIRED', claim: null } };
}

/** From now on the paste can't be retried. */
function claimFailed(state: State, { deletesPayload }: Rules): State | null {
  const { paste } = state;
  if (paste?.status !== 'FAILED' || state.failedSweep !== null) return null;
  const hasFailedPayload = paste.hasFailedPayload && !deletesPayload('failed sweep');
  return { ...state, failedSweep: 'claimed', paste: { ...paste, hasFailedPayload } };
}
