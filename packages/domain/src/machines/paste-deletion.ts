import { defineMachine, type StateOf } from '../machine.ts';

export const pasteDeletion = defineMachine({
  name: 'paste_deletion',
  storedIn: {
    table: 'pastes',
    column: 'deletion_status',
    identityColumns: ['id', 'short_code', 'content_hash', 'size_bytes', 'burn', 'parent'],
    reasonColumn: null,
  },
  initial: 'NOT_EXPIRED',
  states: {
    NOT_EXPIRED: {
      meaning:
        'Not claimed for deletion. The cleanup claims the paste once its deletion was requested or expires_at has passed; a reveal ' +
        'claims a paste that is deleted when it is read.',
      to: ['DELETION_IN_PROGRESS'],
    },
    DELETION_IN_PROGRESS: {
      meaning:
        'A cleanup has claimed the paste and deletes the object, or a reveal has read the paste, and a cleanup deletes the object ' +
        'six minutes later. The cleanup ends the deletion, or releases the paste when S3 refuses the key. The deletion-watchdog ' +
        'releases the paste when the cleanup crashed.',
      to: ['DELETED', 'NOT_EXPIRED'],
      since: 'deletion_initiated_at',
    },
    DELETED: {
      meaning: 'The object is deleted; the row is a tombstone. The tombstones sweep removes the row.',
      to: [],
    },
  },
});

export type PasteDeletionState = StateOf<typeof pasteDeletion>;
