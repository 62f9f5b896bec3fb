import { pasteUpload, statesOf } from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { listPastes as findPastes, type Database } from '@pasteflow/postgres';
import { z } from 'zod';
import { requireUser } from '../identity/caller-of.ts';
import { nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { jsonResponse } from '../openapi/formats.ts';
import { pasteSchema, viewOf } from './paste-view.ts';

const states = statesOf(pasteUpload);

const query = z.strictObject({
  status: z
    .enum(states, mustBeOneOf(states))
    .optional()
    .meta({ description: 'Only pastes in this upload state.', param: { example: 'PROCESSED' } }),
  ...pageFields,
});

const pasteList = z
  .object({ pastes: z.array(pasteSchema), next_cursor: nextCursor })
  .meta({ id: 'PasteList', description: 'A page of pastes, newest first.' });

/** GET /v1/pastes: the caller's pastes, newest first, without expired and deleted ones. */
export function listPastes({ db, publicUrl }: { db: Database; publicUrl: () => string }): Endpoint {
  return {
    operation: {
      operationId: 'listPastes',
      tag: 'pastes',
      access: 'user',
      summary: "Lists the caller's pastes, newest first.",
      description:
        'Expired and deleted pastes are not listed. New pastes do not shift the pages that follow a cursor.',
      params: { query },
      answers: { 200: jsonResponse('A page of pastes.', pasteList) },
      errors: ['validation_failed', 'dependency_unavailable'],
    },
    handle: async (req, res) => {
      const { status = null, ...page } = readQuery(req, query);
      const found = await findPastes(db, { userId: requireUser(req), status }, pageRequestOf(page));
      const url = publicUrl();
      const list: z.output<typeof pasteList> = {
        pastes: found.rows.map((paste) => viewOf(paste, url, 'owner')),
        next_cursor: nextCursorOf(found),
      };
      res.json(list);
    },
  };
}
