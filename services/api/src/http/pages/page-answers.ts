import type { Response } from 'express';
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { ProblemCode } from '../answers/problem-codes.ts';
import type { SessionCookie } from '../callers/session-cookie.ts';

/** A page, for the OpenAPI document. */
export function pageOf(description: string, headers: z.ZodRawShape = {}): ZodOpenApiResponseObject {
  return { description, headers: z.object(headers), content: { 'text/html': { schema: z.string() } } };
}

/** A redirect after a form, so that reloading the next page sends nothing again. */
export function redirectOf(description: string, headers: z.ZodRawShape = {}): ZodOpenApiResponseObject {
  return {
    description: `${description} The answer has an empty body.`,
    headers: z.object({ Location: nextPage, ...headers }),
    content: { 'text/html': { schema: z.string() } },
  };
}

const nextPage = z.string().meta({ header: { description: 'The path of the next page.' } });

/** The header of `forgetUser` beside the cookie, for the OpenAPI document. */
export const forgetting = {
  'Clear-Site-Data': z
    .string()
    .optional()
    .meta({ header: { description: 'What the tabs keep is cleared, unless `PUBLIC_URL` has a path.' } }),
};

/** The errors of reading a short form. */
export const formErrors = [
  'unsupported_media_type',
  'unsupported_encoding',
  'content_too_large',
  'validation_failed',
  'overloaded',
] as const satisfies readonly ProblemCode[];

/**
 * The browser forgets who was signed in: the session, and the drafts and delete tokens that the tabs keep.
 * Below a path, other services may have the same storage.
 */
export function forgetUser(res: Response, sessions: Pick<SessionCookie, 'end'>, base: string): void {
  res.set('Set-Cookie', sessions.end());
  if (base === '') res.set('Clear-Site-Data', '"storage"');
}

/** 303: the browser continues with GET. The empty body is of the type that all answers to forms have. */
export function goTo(res: Response, path: string): void {
  res.status(303).set('Location', path).type('html').end();
}
