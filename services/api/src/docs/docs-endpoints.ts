import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { packedClient } from '@pasteflow/cli';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { RequestError } from '../http/errors/request-error.ts';
import { isKnownToClient } from '../http/request/conditional.ts';
import { pathOf } from '../http/request/request-context.ts';
import * as headers from '../openapi/answer-headers.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Endpoint, Routes } from '../openapi/endpoint.ts';
import { jsonResponse, optionalHeader } from '../openapi/formats.ts';
import { pageHtml, pagePolicy, startScript, styles } from './page.ts';

interface ServedFile {
  /** The Content-Type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Strong, with its quotes. */
  readonly etag: string;
}

/** Our script and styles, the files of swagger-ui-dist, and the licences of the bundle. */
const files: ReadonlyMap<string, readonly [type: string, read: (name: string) => Buffer | Promise<Buffer>]> =
  new Map([
    ['start.js', ['text/javascript; charset=utf-8', () => Buffer.from(startScript)]],
    ['page.css', ['text/css; charset=utf-8', () => Buffer.from(styles)]],
    ['swagger-ui-bundle.js', ['text/javascript; charset=utf-8', packaged]],
    ['swagger-ui-bundle.js.LICENSE.txt', ['text/plain; charset=utf-8', packaged]],
    ['swagger-ui.css', ['text/css; charset=utf-8', packaged]],
  ]);

const loaded = new Map<string, ServedFile>();

/** A file, read at its first request and then kept; undefined: there is none of this name. */
async function fileNamed(name: string): Promise<ServedFile | undefined> {
  const [type, read] = files.get(name) ?? [];
  if (type === undefined || read === undefined) return undefined;
  const file = loaded.get(name) ?? asFile(type, await read(name));
  loaded.set(name, file);
  return file;
}

function asFile(type: string, bytes: Buffer): ServedFile {
  return { type, bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` };
}

function packaged(name: string): Promise<Buffer> {
  return readFile(new URL(name, import.meta.resolve('swagger-ui-dist/package.json')));
}

const tagged = z.object({ ETag: headers.etag });
const known = { description: 'The client has the current version: an empty body.', headers: tagged };
const ifNoneMatch = z.object({
  'If-None-Match': optionalHeader('ETags of the versions that the client has.', '"x"'),
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
          .enum([...files.keys()])
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
    const file = await fileNamed(String(req.params.file));
    if (file === undefined) {
      throw new RequestError(
        'route_not_found',
        `There is no file ${pathOf(req)}. GET /docs shows the documentation.`,
      );
    }
    send(file, req, res);
  },
};

/**
 * GET /cli.tgz: the command line client of this version, for `npm install -g URL/cli.tgz`.
 * @param packed the tarball, which only a build has
 */
export function readClient(packed: URL = packedClient): Endpoint {
  let client: ServedFile | undefined;
  return {
    operation: {
      operationId: 'readClient',
      tag: 'operation',
      access: 'open',
      summary: 'Returns the command line client as a package for npm.',
      description: '`npm install -g` installs it by this URL. The ETag is the SHA-256 of the package.',
      params: { header: ifNoneMatch },
      answers: {
        200: { description: 'The package.', headers: tagged, content: { 'application/gzip': {} } },
        304: known,
      },
      errors: ['route_not_found'],
    },
    handle: async (req, res) => {
      client ??= asFile('application/gzip', await readPacked(packed));
      send(client, req, res);
    },
  };
}

async function readPacked(packed: URL): Promise<Buffer> {
  try {
    return await readFile(packed);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new RequestError(
      'route_not_found',
      'This api runs without a build of the command line client. The operator can make one: npm run build.',
    );
  }
}

/** Revalidated each time, because a file keeps its name when it changes with the next version. */
function send({ type, bytes, etag }: ServedFile, req: Request, res: Response): void {
  res.set({ ETag: etag, 'Cache-Control': 'no-cache' });
  if (isKnownToClient(req.get('If-None-Match'), etag)) res.status(304).end();
  else res.type(type).send(bytes);
}

/**
 * GET /openapi.json. Built at the first request, because the port, and with it the URL, is known only then.
 */
export function readDocument({ publicUrl }: { publicUrl: () => string }, routes: () => Routes): Endpoint {
  let document: string | undefined;
  return {
    operation: {
      operationId: 'readDocument',
      tag: 'operation',
      access: 'open',
      summary: 'Returns this document.',
      answers: {
        200: jsonResponse(
          'OpenAPI 3.1, generated from the schemas that validate requests.',
          z.looseObject({ openapi: z.string() }),
        ),
      },
      errors: [],
    },
    handle: (_req, res) => {
      document ??= JSON.stringify(openApiDocument(routes(), publicUrl()));
      res.type('application/json').send(document);
    },
  };
}
