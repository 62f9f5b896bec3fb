import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';

// Only `format`: zod's iso.datetime() and uuid() would put patterns of hundreds of characters into the
// document.

/** RFC 3339, in UTC. */
export const instant = z.string().meta({ format: 'date-time' });
export const uuid = z.string().meta({ format: 'uuid' });

/** A header of a request that may be missing. */
export function optionalHeader(description: string, example: string) {
  return z.string().optional().meta({ param: { description, example } });
}

export function jsonResponse(
  description: string,
  schema: z.ZodType,
  headers: z.ZodRawShape = {},
): ZodOpenApiResponseObject {
  return { description, headers: z.object(headers), content: { 'application/json': { schema } } };
}
