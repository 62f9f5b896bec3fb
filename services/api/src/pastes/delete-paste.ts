import type { Request, Response } from 'express';
import { expirePaste, type Database } from '@pasteflow/postgres';
import { RequestError } from '../http/request-error.ts';
import { isDeleteToken } from './delete-token.ts';
import { assertNotGone, findNamedPaste, pasteGone, pasteNotFound } from './find-named-paste.ts';

/** DELETE /v1/pastes/:short_code: from now on the paste is expired; the cleanup takes its object away. */
export function deletePaste({ db }: { db: Database }) {
  return async (req: Request, res: Response): Promise<void> => {
    const paste = await findNamedPaste(db, req);
    if (paste === null) throw pasteNotFound();
    assertNotGone(paste); // told before the token is asked for: a GET says it to everybody
    if (!isDeleteToken(req.get('Delete-Token'), paste.delete_token_hash)) throw unauthorized();
    if (!(await expirePaste(db, paste.id))) throw pasteGone(); // somebody else was quicker
    res.status(204).end();
  };
}

function unauthorized(): RequestError {
  return new RequestError('unauthorized', 'Send the delete_token of this paste in the header Delete-Token.', {
    headers: { 'WWW-Authenticate': 'Delete-Token realm="pasteflow"' },
  });
}
