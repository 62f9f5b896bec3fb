import type { Request } from 'express';
import { expirePaste, type Database, type PasteRow } from '@pasteflow/postgres';
import { z } from 'zod';
import { userIdOf } from '../identity/caller-of.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { credentialsWanted } from '../identity/authorization.ts';
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
      access: 'anyone',
      summary: 'Deletes a paste, at once and for good.',
      description: 'Wants a token of its owner, or for an anonymous paste its delete_token.',
      params: {
        path: namedPaste,
        header: z.object({
          'Delete-Token': z
            .string()
            .optional()
            .meta({
              param: {
                description: 'The delete_token from the answer to the POST of an anonymous paste.',
                example: example.deleteToken,
              },
            }),
        }),
      },
      answers: { 204: { description: 'From now on the paste is gone.' } },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await findNamedPaste(db, req);
      if (paste === null) throw pasteNotFound();
      assertNotGone(paste); // told before the token is asked for: a GET says it to everybody who may know of the paste
      assertMayDelete(paste, req);
      if (!(await expirePaste(db, paste.id))) throw pasteGone(); // somebody else was quicker
      res.status(204).end();
    },
  };
}

/**
 * 401 also for another user's token: the right one would do, and the answer says so. Whoever has such a token may read the paste anyhow.
 */
function assertMayDelete(paste: PasteRow, req: Request): void {
  if (paste.user_id === null) {
    if (!isDeleteToken(req.get('Delete-Token'), paste.delete_token_hash)) throw deleteTokenWanted();
  } else if (paste.user_id !== userIdOf(req)) {
    throw credentialsWanted(
      'This paste has an owner: send a token of theirs in Authorization: Bearer TOKEN.',
    );
  }
}

function deleteTokenWanted(): RequestError {
  return new RequestError('unauthorized', 'Send the delete_token of this paste in the header Delete-Token.', {
    headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' },
  });
}
