import type { Request, Response } from 'express';
import { z } from 'zod';
import { isKnownToClient } from '../http/request/conditional.ts';
import { pathOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/errors/request-error.ts';
import * as headers from '../openapi/answer-headers.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { asFile, fileNamed, fileNames, isFileName, type ServedFile } from './files.ts';
import { pageHtml, pagePolicy } from './page.ts';

const tagged = z.object({ ETag: headers.etag });
const known = { description: 'The client has the current version: an empty body.', headers: tagged };
const ifNoneMatch = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ param: { description: 'ETags of the versions that the client has.', example: '"x"' } }),
});

/** GET /docs: /openapi.json as a page, by Swagger UI. */
export const readDocs: Endpoint = {
  operation: {
    operationId: 'readDocs',
    tag: 'operation',
    access: 'open',
    summary: 'Shows this document as a page.',
    params: { header: ifNoneMatch },
    answers: {
      200: { description: 'The page.', headers: tagged, content: { 'text/html': { schema: z.string() } } },
      304: known,
    },
    errors: [],
  },
  handle: (req, res) => {
    const page = pageHtml(pathOf(req).endsWith('/') ? '' : 'docs/');
    res.set({ 'Content-Security-Policy': pagePolicy, 'Cross-Origin-Opener-Policy': 'same-origin' });
    send(asFile('text/html; charset=utf-8', Buffer.from(page)), req, res);
  },
};

/** GET /docs/:file: a file of that page. */
export const readDocsFile: Endpoint = {
  operation: {
    operationId: 'readDocsFile',
    tag: 'operation',
    access: 'open',
    summary: 'Returns a file of the page at /docs.',
    params: {
      path: z.object({
        file: z
          .enum(fileNames)
          .meta({ param: { description: 'The name of the file.', example: 'start.js' } }),
      }),
      header: ifNoneMatch,
    },
    answers: {
      200: {
        description: 'The file.',
        headers: tagged,
        content: { 'text/javascript': {}, 'text/css': {}, 'text/plain': {}, 'image/png': {} },
      },
      304: known,
    },
    errors: ['route_not_found'],
  },
  handle: async (req, res) => {
    const name = String(req.params.file);
    if (!isFileName(name)) {
      throw new RequestError(
        'route_not_found',
        `There is no file ${pathOf(req)}. GET /docs shows the documentation.`,
      );
    }
    send(await fileNamed(name), req, res);
  },
};

/** Revalidated each time, because a file keeps its name when it changes with the next version. */
function send({ type, bytes, etag }: ServedFile, req: Request, res: Response): void {
  res.set({ ETag: etag, 'Cache-Control': 'no-cache' });
  if (isKnownToClient(req.get('If-None-Match'), etag)) res.status(304).end();
  else res.type(type).send(bytes);
}
