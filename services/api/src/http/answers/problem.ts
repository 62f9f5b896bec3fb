import { DependencyUnavailableError, PasteflowError, takedownClasses } from '@pasteflow/domain';
import { z } from 'zod';
import { problemCodes, statusOf, titleOf } from './problem-codes.ts';
import { fieldErrorSchema, RequestError } from './request-error.ts';

/** RFC 9457, with a code from the closed list; a validation error has the fields and their rules. */
export const problemSchema = z
  .object({
    type: z
      .string()
      .meta({ description: 'A URN made from the code.', examples: ['urn:pasteflow:problem:paste_gone'] }),
    title: z.string().meta({ description: 'The same for every problem with this code.' }),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong and what to do.' }),
    instance: z.string().meta({ description: 'The path of the request.' }),
    code: z.enum(problemCodes),
    errors: z
      .array(fieldErrorSchema)
      .optional()
      .meta({ description: 'The fields of the request that break a rule.' }),
    takedown_class: z
      .enum(takedownClasses)
      .optional()
      .meta({ description: 'Why the operator took the paste down, in one word of a closed list.' }),
    short_code: z
      .string()
      .optional()
      .meta({ description: 'The paste that the slug names now, or the newer version.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457, with a code from a closed list.' });

export type Problem = Readonly<z.output<typeof problemSchema>>;

/** A 503 is expected to be over within seconds. */
const RETRY_AFTER_SECONDS = 1;

const INTERNAL_DETAIL = 'The server failed. Try again; if it persists, report the X-Request-Id.';

export interface ErrorAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** @param instance the path of the request, without its query */
export function answerTo(error: unknown, instance: string): ErrorAnswer {
  const { code, message, headers: ownHeaders, errors, takedownClass, shortCode } = asRequestError(error);
  const status = statusOf(code);
  const problem: Problem = {
    type: `urn:pasteflow:problem:${code}`,
    title: titleOf(code),
    status,
    detail: status === 500 ? INTERNAL_DETAIL : message,
    instance,
    code,
    ...(errors !== undefined && { errors: [...errors] }),
    ...(takedownClass !== undefined && { takedown_class: takedownClass }),
    ...(shortCode !== undefined && { short_code: shortCode }),
  };
  const body = Buffer.from(`${JSON.stringify(problem)}\n`);
  const headers = {
    ...ownHeaders,
    ...(status === 503 && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    'Content-Type': 'application/problem+json',
    'Content-Length': String(body.length),
  };
  return { problem, headers, body };
}

function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof PasteflowError) return new RequestError(error.code, error.message);
  // Express's router throws this for a path that it can't decode.
  if (error instanceof URIError) {
    return new RequestError(
      'malformed_request',
      'Correct the percent-encoding of the URL and send the request again.',
    );
  }
  return new RequestError('internal', INTERNAL_DETAIL);
}

/**
 * The level of an error's log line, in addition to the line of the request; null for a client's mistake, and
 * for a refusal that protects the process: metrics count it, and a flood of them must not flood the log.
 */
export function severityOf(error: unknown, { status, code }: Problem): 'error' | 'warn' | null {
  if (code === 'overloaded' || code === 'storage_full') return null;
  if (error instanceof DependencyUnavailableError) return 'warn';
  return status >= 500 ? 'error' : null;
}
