import { defineMachine, type StateOf } from '../machine.ts';

export const pasteUpload = defineMachine({
  name: 'paste_upload',
  storedIn: {
    table: 'pastes',
    column: 'status',
    identityColumns: ['id', 'short_code', 'content_hash', 'size_bytes'],
    reasonColumn: 'failure_reason',
  },
  initial: 'IN_PROGRESS',
  states: {
    IN_PROGRESS: {
      meaning:
        'The content is in its payload. An upload-worker settles the upload; the reaper does when the worker died in the last attempt.',
      to: ['PROCESSED', 'FAILED'],
    },
    PROCESSED: { meaning: 'The content is in S3 at s3_url; the payload is deleted.', to: [] },
    FAILED: {
      meaning: 'Every attempt failed; failure_reason says why. The failed-pastes sweep removes the row.',
      to: [],
    },
  },
});

export type PasteUploadState = StateOf<typeof pasteUpload>;
