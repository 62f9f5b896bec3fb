import { isTerminal, pasteUpload } from '@pasteflow/domain';
import { z } from 'zod';
import { preferenceApplied, preferWait } from '../live/live-documents.ts';
import type { Live } from '../live/live.ts';
import { readWaiting } from '../live/read-waiting.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { jsonResponse } from '../openapi/formats.ts';
import {
  assertNotGone,
  findErrors,
  findNamedPaste,
  type FindDependencies,
  namedPaste,
  readerOf,
} from './find-named-paste.ts';
import { pasteSchema, viewOf } from './paste-view.ts';

export interface ReadPasteDependencies extends FindDependencies {
  readonly live: Live;
  readonly publicUrl: () => string;
}

/**
 * GET /v1/pastes/:short_code: the metadata of a paste in any upload state. With `Prefer: wait`, the answer
 * waits until the upload has settled.
 */
export function readPaste({ db, live, publicUrl }: ReadPasteDependencies): Endpoint {
  return {
    operation: {
      operationId: 'readPaste',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Reads the metadata of a paste, in any upload state.',
      params: { path: namedPaste, header: preferWait },
      answers: {
        200: {
          ...jsonResponse('The paste.', pasteSchema),
          headers: z.object({ 'Preference-Applied': preferenceApplied }),
        },
      },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await readWaiting(live, req, res, {
        kind: 'upload',
        find: async () => {
          const found = await findNamedPaste({ db }, req);
          assertNotGone(found);
          return found;
        },
        isSettled: ({ status }) => isTerminal(pasteUpload, status),
      });
      if (paste !== null) res.json(viewOf(paste, publicUrl(), readerOf(paste, req)));
    },
  };
}
