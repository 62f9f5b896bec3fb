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
        'The content is in its payload. An upload-worker settles the upload. The upload of a crashed worker stays IN_PROGRESS, and runs again.',
      to: ['PROCESSED', 'FAILED'],
    },
    PROCESSED: { meaning: 'The content is in S3 at s3_url; the payload is deleted.', to: [] },
    FAILED: {
      meaning:
        'Every attempt failed; failure_reason says why. An operator can retry the upload; otherwise the failed-pastes sweep removes the row.',
      to: [],
    },
  },
});

export type PasteUploadState = StateOf<typeof pasteUpload>;
