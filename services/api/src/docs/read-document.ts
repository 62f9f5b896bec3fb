import { z } from 'zod';
import { openApiDocument } from '../openapi/document.ts';
import type { Endpoint, Routes } from '../openapi/endpoint.ts';

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
        200: {
          description: 'OpenAPI 3.1, generated from the schemas that validate requests.',
          content: { 'application/json': { schema: z.looseObject({ openapi: z.string() }) } },
        },
      },
      errors: [],
    },
    handle: (_req, res) => {
      document ??= JSON.stringify(openApiDocument(routes(), publicUrl()));
      res.type('application/json').send(document);
    },
  };
}
