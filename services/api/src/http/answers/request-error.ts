import type { TakedownClass } from '@pasteflow/domain';
import { z } from 'zod';
import type { ProblemCode } from './problem-codes.ts';

/** One rule that a body or a query breaks. */
export const fieldErrorSchema = z.object({
  path: z.string().meta({ description: 'The name of the field; empty: the body as a whole.' }),
  message: z.string(),
});

export type FieldError = Readonly<z.output<typeof fieldErrorSchema>>;

export interface RequestErrorDetails extends ErrorOptions {
  /** Headers of the answer, e.g. Allow or Content-Range. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly FieldError[];
  readonly takedownClass?: TakedownClass;
  /** The paste that a slug names now, or the newer version. */
  readonly shortCode?: string;
}

/**
 * An error of a request, with the headers and the field errors of its answer. The message says what to do.
 */
export class RequestError extends Error {
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly FieldError[] | undefined;
  readonly takedownClass: TakedownClass | undefined;
  readonly shortCode: string | undefined;

  constructor(
    code: ProblemCode,
    message: string,
    { headers = {}, errors, takedownClass, shortCode, ...options }: RequestErrorDetails = {},
  ) {
    super(message, options);
    this.name = 'RequestError';
    this.code = code;
    this.headers = headers;
    this.errors = errors;
    this.takedownClass = takedownClass;
    this.shortCode = shortCode;
  }
}

/** More than a person corrects at once, in an answer of a few kilobytes. */
const MAX_FIELD_ERRORS = 100;

export function validationFailed(errors: readonly FieldError[]): RequestError {
  return new RequestError(
    'validation_failed',
    'Correct the fields named in `errors` and send the request again.',
    { errors: errors.slice(0, MAX_FIELD_ERRORS) },
  );
}

/** The value as its schema parses it. @throws RequestError validation_failed */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: withoutOwnWords });
  if (!result.success) throw validationFailed(fieldErrors(result.error));
  return result.data;
}

/** zod's texts are about its own types: a schema of an object has no words for what is none. */
function withoutOwnWords({ code, expected }: z.core.$ZodRawIssue): string | undefined {
  return code === 'invalid_type' && expected === 'object' ? 'must be a JSON object' : undefined;
}

/** One error for each field. zod reports all unknown fields of an object as one issue. */
function fieldErrors(error: z.ZodError): readonly FieldError[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({
      path: path === '' ? key : `${path}.${key}`,
      message: 'is not a known field',
    }));
  });
}
