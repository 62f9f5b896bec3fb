import type { Database } from '@pasteflow/postgres';
import type { Endpoint } from '../openapi/endpoint.ts';
import { assertNotGone, findErrors, findNamedPaste, namedPaste, pasteNotFound } from './find-named-paste.ts';
import { pasteSchema, viewOf } from './paste-view.ts';

/** GET /v1/pastes/:short_code: the paste in any upload state, FAILED with its reason. */
export function readPaste({ db, publicUrl }: { db: Database; publicUrl: () => string }): Endpoint {
  return {
    operation: {
      operationId: 'readPaste',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Shows a paste in any upload state, without its content.',
      params: { path: namedPaste },
      answers: {
        200: { description: 'The paste.', content: { 'application/json': { schema: pasteSchema } } },
      },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await findNamedPaste(db, req);
      if (paste === null) throw pasteNotFound();
      assertNotGone(paste);
      res.json(viewOf(paste, publicUrl()));
    },
  };
}
