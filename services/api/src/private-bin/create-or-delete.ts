import type { Request, Response } from 'express';
import { requestDeletion } from '@pasteflow/postgres';
import { textOfSealed } from '@pasteflow/sealed';
import type { ApiContext } from '../context.ts';
import { readBody } from '../http/body/read-body.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { ApiEndpoint } from '../http/openapi/endpoint.ts';
import { shellOperation } from '../pastes/create-operations.ts';
import { create } from '../pastes/create-paste.ts';
import { assertMayDelete } from '../pastes/delete-paste.ts';
import { assertNotGone, findErrors, findEvenHeld, pasteGone } from '../pastes/find-named-paste.ts';
import { createdAnswerOf, fieldsOf } from './answers.ts';
import { parsePrivateBinBody, toPrivateBinError } from './request.ts';

/** Beside the ciphertext, a body has the cipher parameters and the lifetime. */
const OVERHEAD_BYTES = 4096;
/** The body is in memory as bytes, as text, and as the document that is stored. */
const WEIGHT = 3;

/** POST / of PrivateBin's clients: a new paste, or with `deletetoken` the deletion of one. */
export function privateBinPost(api: ApiContext): ApiEndpoint {
  const { isShared: _, ...operation } = shellOperation(api); // this one deletes as well
  return {
    operation: { ...operation, errors: [...operation.errors, ...findErrors] },
    handle: async (req, res) => {
      const maxBytes = api.maxPasteBytes + OVERHEAD_BYTES;
      const tooLarge = (): RequestError =>
        new RequestError(
          'content_too_large',
          `Send at most ${api.maxPasteBytes} bytes of encrypted content.`,
        );
      const body = parsePrivateBinBody(
        await readBody(req, res, { maxBytes, tooLarge, budget: api.bodies, weight: WEIGHT }),
      );
      if (body.kind === 'delete') {
        await remove(api, req, res, body);
        return;
      }
      const content = Buffer.from(textOfSealed(body.document));
      if (content.length > api.maxPasteBytes) throw tooLarge();
      await create(api, req, res, {
        name: 'private-bin',
        receive: () => Promise.resolve({ ...body.options, content }),
        toOwnError: toPrivateBinError,
        answerTo: ({ short_code: shortCode }, deleteToken, site) =>
          createdAnswerOf(site().base, shortCode, deleteToken),
      });
    },
  };
}

async function remove(
  api: ApiContext,
  req: Request,
  res: Response,
  { shortCode, deleteToken }: { readonly shortCode: string; readonly deleteToken: string },
): Promise<void> {
  const paste = await findEvenHeld(api, req, shortCode);
  assertNotGone(paste);
  assertMayDelete(paste, req, deleteToken);
  if (!(await requestDeletion(api.db, paste.id))) throw pasteGone(); // another request deleted it meanwhile
  res.json(fieldsOf(api.pages.site(req).base, shortCode));
}
