import type { Machine } from '../machine.ts';

export type PasteUploadState = 'IN_PROGRESS' | 'PROCESSED' | 'FAILED';

export const pasteUpload = {
  name: 'paste_upload',
  storedIn: { table: 'pastes', column: 'status' },
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
} as const satisfies Machine<PasteUploadState>;
