import { defineMachine, type StateOf } from '../machine.ts';

export const pasteDeletion = defineMachine({
  name: 'paste_deletion',
  storedIn: {
    table: 'pastes',
    column: 'deletion_status',
    subjectColumn: 'id',
    reasonColumn: null,
    watchedColumns: ['expires_at'],
  },
  initial: 'NOT_EXPIRED',
  states: {
    NOT_EXPIRED: {
      meaning: 'Not claimed for deletion. The cleanup claims it once expires_at has passed.',
      to: ['DELETION_IN_PROGRESS'],
    },
    DELETION_IN_PROGRESS: {
      meaning:
        'A cleanup has claimed it and is deleting the object. The cleanup ends it, or hands it back when S3 refused its key; ' +
        'the deletion-watchdog hands it back when the cleanup died.',
      to: ['DELETED', 'NOT_EXPIRED'],
    },
    DELETED: { meaning: 'The object is gone. The tombstones sweep removes the row.', to: [] },
  },
});

export type PasteDeletionState = StateOf<typeof pasteDeletion>;
