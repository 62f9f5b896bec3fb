import { normalFileName, type PasteFile } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import type { Request } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../http/openapi/endpoint.ts';
import { byteAnswers, byteErrors, conditions } from './byte-answers.ts';
import { example } from './example.ts';
import { namesPaste } from './find-named-paste.ts';
import { assertStays, etagOfFile, findStored, serve } from './read-content.ts';

const [, exampleFile] = example.files;

/** The operation of readFile, at both of its paths. */
const fileOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  isShared: true,
  summary: 'Reads a file of a paste, byte for byte.',
  description:
    'The metadata of a paste list its files. The slashes of a name may be sent as they are. A file is a range of the content: of a content that is stored compressed, ' +
    'all that stands before the file is decompressed, too, which counts as several requests. An empty file has no ranges.',
  params: {
    path: namesPaste(example.filesCode).extend({
      name: z.string().meta({ param: { description: 'The name of the file.', example: exampleFile.name } }),
    }),
    header: z.object(conditions(etagOfFile(example.contentHash, exampleFile))),
  },
  answers: byteAnswers('file', { ETag: headers.etagOfFile, 'Accept-Ranges': headers.acceptRanges }),
  errors: [...byteErrors, 'file_not_found'],
};

/** GET /:short_code/files/*name and /v1/pastes/:short_code/files/*name: the exact bytes of a file. */
export function readFile(api: ApiContext, operationId: string): Endpoint {
  return {
    operation: { ...fileOperation, operationId },
    handle: async (req, res) => {
      const paste = await findStored(api, req, res, (found) => {
        assertStays(api, found);
        fileOf(found, req);
      });
      if (paste !== null) await serve(api, { paste, file: fileOf(paste, req) }, req, res);
    },
  };
}

/** @throws RequestError file_not_found */
function fileOf({ files, short_code: shortCode }: PasteRow, req: Request): PasteFile {
  const name = normalFileName((req.params['name'] as unknown as readonly string[]).join('/'));
  const file = files?.find((each) => each.name === name);
  if (file !== undefined) return file;
  throw new RequestError(
    'file_not_found',
    files === null
      ? `This paste is one content without files. Read it with GET /${shortCode}.`
      : `This paste has no file of this name. GET /v1/pastes/${shortCode} lists its files.`,
  );
}
