import type { Request, Response } from 'express';
import { requestDeletion } from '@pasteflow/postgres';
import { textOfSealed } from '@pasteflow/sealed';
import { readBody } from '../http/body/read-body.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { shellOperation } from '../pastes/create-operations.ts';
import { create, type CreatePasteDependencies } from '../pastes/create-paste.ts';
import { assertMayDelete } from '../pastes/delete-paste.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  pasteGone,
  type FindDependencies,
} from '../pastes/find-named-paste.ts';
import { createdAnswerOf, fieldsOf } from './answers.ts';
import { parsePrivateBinBody } from './request.ts';

type PrivateBinPostDependencies = CreatePasteDependencies & FindDependencies;

/** Beside the ciphertext, a body has the cipher parameters and the lifetime. */
const OVERHEAD_BYTES = 4096;
/** The body is in memory as bytes, as text, and as the document that is stored. */
const WEIGHT = 3;

/** POST / of PrivateBin's clients: a new paste, or with `deletetoken` the deletion of one. */
export function privateBinPost(deps: PrivateBinPostDependencies): Endpoint {
  const { isShared: _, ...operation } = shellOperation(deps); // this one deletes as well
  return {
    operation: { ...operation, errors: [...operation.errors, ...findErrors] },
    handle: async (req, res) => {
      const maxBytes = deps.maxPasteBytes + OVERHEAD_BYTES;
      const tooLarge = (): RequestError =>
        new RequestError(
          'content_too_large',
          `Send at most ${deps.maxPasteBytes} bytes of encrypted content.`,
        );
      const body = parsePrivateBinBody(
        await readBody(req, res, { maxBytes, tooLarge, budget: deps.bodies, weight: WEIGHT }),
      );
      if (body.kind === 'delete') {
        await remove(deps, req, res, body);
        return;
      }
      const content = Buffer.from(textOfSealed(body.document));
      if (content.length > deps.maxPasteBytes) throw tooLarge();
      await create(deps, req, res, {
        name: 'private-bin',
        receive: () => Promise.resolve({ ...body.options, content }),
        answerTo: ({ short_code: shortCode }, deleteToken, site) =>
          createdAnswerOf(site().base, shortCode, deleteToken),
      });
    },
  };
}

async function remove(
  deps: PrivateBinPostDependencies,
  req: Request,
  res: Response,
  { shortCode, deleteToken }: { readonly shortCode: string; readonly deleteToken: string },
): Promise<void> {
  const paste = await findEvenHeld(deps, req, shortCode);
  assertNotGone(paste);
  assertMayDelete(paste, req, deleteToken);
  if (!(await requestDeletion(deps.db, paste.id))) throw pasteGone(); // another request deleted it meanwhile
  res.json(fieldsOf(deps.pages.site(req).base, shortCode));
}
