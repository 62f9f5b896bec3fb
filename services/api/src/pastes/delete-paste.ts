import { expirePaste, type Database } from '@pasteflow/postgres';
import { z } from 'zod';
import { RequestError } from '../http/request-error.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { isDeleteToken } from './delete-token.ts';
import { example } from './example.ts';
import {
  assertNotGone,
  findErrors,
  findNamedPaste,
  namedPaste,
  pasteGone,
  pasteNotFound,
} from './find-named-paste.ts';

/** DELETE /v1/pastes/:short_code: from now on the paste is expired; the cleanup takes its object away. */
export function deletePaste({ db }: { db: Database }): Endpoint {
  return {
    operation: {
      operationId: 'deletePaste',
      tag: 'pastes',
      summary: 'Deletes a paste, at once and for good.',
      params: {
        path: namedPaste,
        header: z.object({
          'Delete-Token': z.string().meta({
            param: {
              description: 'The delete_token from the answer to its POST.',
              example: example.deleteToken,
            },
          }),
        }),
      },
      answers: { 204: { description: 'From now on the paste is gone.' } },
      errors: [...findErrors, 'unauthorized'],
    },
    handle: async (req, res) => {
      const paste = await findNamedPaste(db, req);
      if (paste === null) throw pasteNotFound();
      assertNotGone(paste); // told before the token is asked for: a GET says it to everybody
      if (!isDeleteToken(req.get('Delete-Token'), paste.delete_token_hash)) throw unauthorized();
      if (!(await expirePaste(db, paste.id))) throw pasteGone(); // somebody else was quicker
      res.status(204).end();
    },
  };
}

function unauthorized(): RequestError {
  return new RequestError('unauthorized', 'Send the delete_token of this paste in the header Delete-Token.', {
    headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' },
  });
}
