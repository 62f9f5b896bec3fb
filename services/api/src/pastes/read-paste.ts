import type { Request, Response } from 'express';
import type { Database } from '@pasteflow/postgres';
import { assertNotGone, findNamedPaste, pasteNotFound } from './find-named-paste.ts';
import { viewOf } from './paste-view.ts';

/** GET /v1/pastes/:short_code: the paste in any upload state, FAILED with its reason. */
export function readPaste({ db, publicUrl }: { db: Database; publicUrl: () => string }) {
  return async (req: Request, res: Response): Promise<void> => {
    const paste = await findNamedPaste(db, req);
    if (paste === null) throw pasteNotFound();
    assertNotGone(paste);
    res.json(viewOf(paste, publicUrl()));
  };
}
