import { defineMachine, type StateOf } from '../machine.ts';

export const pasteUpload = defineMachine({
  name: 'paste_upload',
  storedIn: {
    table: 'pastes',
    column: 'status',
    subjectColumn: 'id',
    reasonColumn: 'failure_reason',
    watchedColumns: [],
  },
  initial: 'IN_PROGRESS',
  states: {
    IN_PROGRESS: {
      meaning:
        'The content waits in its payload. The upload-worker moves it on, or the reaper if the worker died.',
      to: ['PROCESSED', 'FAILED'],
    },
    PROCESSED: { meaning: 'The content is in S3 under s3_url; the payload is gone.', to: [] },
    FAILED: {
      meaning: 'Every attempt failed; failure_reason says why. The failed-pastes sweep removes the row.',
      to: [],
    },
  },
});

export type PasteUploadState = StateOf<typeof pasteUpload>;
