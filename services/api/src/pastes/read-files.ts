import { createHash } from 'node:crypto';
import { archiveNameOf, type PasteFile, normalFileName } from '@pasteflow/domain';
import { zipBytesOf, zipFiles } from '@pasteflow/jobs';
import type { PasteRow } from '@pasteflow/postgres';
import { attachmentAs } from '@pasteflow/s3';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { isKnownToClient } from '../http/request/conditional.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../http/openapi/endpoint.ts';
import { optionalHeader } from '../http/openapi/formats.ts';
import { uploadInProgress, byteAnswers, byteErrors, conditions } from './byte-answers.ts';
import { example } from './example.ts';
import { findErrors, namesPaste } from './find-named-paste.ts';
import { assertStays, cachingOf, findStored, sendContent, etagOfFile, serve } from './read-content.ts';

/** The operation of readArchive, at both of its paths. */
const archiveOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  isShared: true,
  summary: 'Reads all files of a paste as a zip.',
  description:
    'The zip has each file under its name, not compressed. It is the same for each reader. A paste without files is answered with `not_several_files`.',
  params: {
    path: namesPaste(example.filesCode),
    header: z.object({
      'If-None-Match': optionalHeader(
        'ETags of the archives that the client has: 304 when one of them matches.',
        '"0"',
      ),
    }),
  },
  answers: {
    200: {
      description: 'The zip.',
      headers: z.object({
        ETag: headers.etagOfArchive,
        'Content-Length': headers.contentLength,
        'Content-Disposition': headers.contentDisposition,
      }),
      content: { 'application/zip': {} },
    },
    304: {
      description: 'The client has the archive: an empty body.',
      headers: z.object({ ETag: headers.etagOfArchive }),
    },
    503: uploadInProgress,
  },
  errors: [...findErrors, 'reveal_required', 'not_several_files', 'overloaded'],
};

/** GET /:short_code/archive and /v1/pastes/:short_code/archive: the files of a paste, as a zip. */
export function readArchive(api: ApiContext, operationId: string): Endpoint {
  return {
    operation: { ...archiveOperation, operationId },
    handle: async (req, res) => {
      const paste = await findStored(api, req, res, (found) => {
        assertStays(api, found);
        filesOf(found);
      });
      if (paste !== null) await sendArchive(api, paste, req, res);
    },
  };
}

/** @throws RequestError not_several_files */
function filesOf({ files, short_code: shortCode }: PasteRow): readonly PasteFile[] {
  if (files !== null) return files;
  throw new RequestError(
    'not_several_files',
    `This paste is one content without files. Read it with GET /${shortCode}.`,
  );
}

/** Raise it when the archive of the same files is written differently. */
const FORMAT = 1;

async function sendArchive(api: ApiContext, paste: PasteRow, req: Request, res: Response): Promise<void> {
  const { content_hash: hash, created_at: createdAt, size_bytes: size, title, short_code: code } = paste;
  const files = filesOf(paste);
  const made = { files, mtime: createdAt };
  const digest = createHash('sha256').update(JSON.stringify([FORMAT, hash, made]));
  const etag = `"${digest.digest('hex')}"`;
  res.set({ ETag: etag, 'Cache-Control': `${cachingOf(paste, res)}, no-transform` });
  if (isKnownToClient(req.get('If-None-Match'), etag)) {
    res.status(304).end();
    return;
  }
  const length = zipBytesOf(made);
  const head = () =>
    res.writeHead(200, {
      'Content-Type': 'application/zip',
      'Content-Length': String(length),
      'Content-Disposition': attachmentAs(archiveNameOf(title, code)),
    });
  if (req.method === 'HEAD') {
    head().end();
    return;
  }
  await sendContent(api, paste, {
    req,
    res,
    requested: { paste, range: undefined, accepts: null },
    head,
    render: (bytes) => zipFiles(bytes, made),
    weight: (size + length) / size,
  });
}

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
