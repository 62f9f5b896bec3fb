import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { packedClient } from '@pasteflow/cli';
import { docsPage, policyWithImage } from '@pasteflow/web';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { pathOf } from '../http/request/request-context.ts';
import { beginCompressed, compressed, knownTagOf } from '../http/answers/compress.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import { openApiDocument } from '../http/openapi/document.ts';
import type { Endpoint, Handler, Routes } from '../http/openapi/endpoint.ts';
import { jsonResponse, optionalHeader } from '../http/openapi/formats.ts';
import { pageHeaders, sendPage } from '../http/pages/page.ts';
import { startScript, styles } from './page.ts';

interface ServedFile {
  /** The Content-Type. */
  readonly type: string;
  readonly bytes: Buffer;
  /** null: it is compressed already. */
  readonly gzip: Buffer | null;
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
  const file = loaded.get(name) ?? (await asText(type, await read(name)));
  loaded.set(name, file);
  return file;
}

/** It is compressed once. */
async function asText(type: string, bytes: Buffer): Promise<ServedFile> {
  return { ...asFile(type, bytes), gzip: await compressed(bytes) };
}

function asFile(type: string, bytes: Buffer): ServedFile {
  return { type, bytes, gzip: null, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` };
}

function packaged(name: string): Promise<Buffer> {
  return readFile(new URL(name, import.meta.resolve('swagger-ui-dist/package.json')));
}

const tagged = z.object({ ETag: headers.etag });
const known = { description: 'The client has the current version: an empty body.', headers: tagged };
const textHeaders = {
  ETag: headers.etag,
  Vary: headers.varyEncoding,
  'Content-Encoding': headers.gzipEncoding,
};
const knownText = {
  description: 'The client has the current version: an empty body.',
  headers: z.object({ ETag: headers.etag, Vary: headers.varyEncoding }),
};
const ifNoneMatch = z.object({
  'If-None-Match': optionalHeader('ETags of the versions that the client has.', '"x"'),
});

/**
 * `data:` is for the images in Swagger UI's style sheet. It sets styles by script, which needs no inline styles
 * (seen with 5.35 in Chromium).
 */
const docsPolicy = policyWithImage(pageHeaders['Content-Security-Policy'] ?? '');

/** GET /docs: /openapi.json as a page, by Swagger UI. */
export function readDocs({ pages }: ApiContext): Endpoint {
  const show: Handler = (req, res) =>
    sendPage(res, docsPage(pages.site(req)), { 'Content-Security-Policy': docsPolicy });
  return {
    operation: {
      operationId: 'readDocs',
      tag: 'operation',
      access: 'open',
      summary: 'Shows this document as a page.',
      answers: { 200: { description: 'The page.', content: { 'text/html': { schema: z.string() } } } },
      errors: [],
    },
    handle: show,
    page: show,
  };
}

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
        headers: z.object(textHeaders),
        content: { 'text/javascript': {}, 'text/css': {}, 'text/plain': {}, 'image/png': {} },
      },
      304: knownText,
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
 * GET /cli.tgz: the command line client of this version, for `npm install -g URL/cli.tgz`. It knows this server.
 * @param packed the tarball, which only a build has
 */
export function readClient({ publicUrl }: { publicUrl: () => string }, packed = packedClient): Endpoint {
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
      client ??= asFile('application/gzip', await packageOfServer(await readPacked(packed), publicUrl()));
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
function send({ type, bytes, gzip, etag }: ServedFile, req: Request, res: Response): void {
  res.set({ ETag: etag, 'Cache-Control': 'no-cache' });
  const known = knownTagOf(req, etag);
  if (gzip !== null) res.vary('Accept-Encoding');
  if (known !== null) res.status(304).set('ETag', known).end();
  else res.type(type).send(gzip !== null && beginCompressed(res, etag) ? gzip : bytes);
}

/**
 * GET /openapi.json. Built at the first request, because the port, and with it the URL, is known only then.
 */
export function readDocument({ publicUrl, house }: ApiContext, routes: () => Routes): Endpoint {
  let document: ServedFile | undefined;
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
          textHeaders,
        ),
        304: knownText,
      },
      errors: [],
    },
    handle: async (req, res) => {
      document ??= await asText(
        'application/json; charset=utf-8',
        Buffer.from(JSON.stringify(openApiDocument(routes(), publicUrl(), house))),
      );
      send(document, req, res);
    },
  };
}

/**
 * The package of the command line client with the address of this server, which the client then uses unless
 * another one is named. The same input gives the same bytes on every api.
 */
async function packageOfServer(packed: Buffer, server: string): Promise<Buffer> {
  const entries = extract();
  const output = pack();
  const unpacking = pipeline(Readable.from([packed]), createGunzip(), entries);
  const packing = buffer(output.pipe(createGzip()));
  for await (const entry of entries) output.entry(entry.header, await buffer(entry));
  await unpacking;
  output.entry({ name: 'package/server.json', mtime: new Date(0) }, JSON.stringify({ server }));
  output.finalize();
  return await packing;
}
