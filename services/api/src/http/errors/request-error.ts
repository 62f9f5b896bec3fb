import { PasteflowError, type ErrorCode } from '@pasteflow/domain';
import { z } from 'zod';

/** One rule that a body or a query breaks. */
export const fieldErrorSchema = z.object({
  path: z.string().meta({ description: 'Names the field; empty: the body as a whole.' }),
  message: z.string(),
});

export type FieldError = Readonly<z.output<typeof fieldErrorSchema>>;

export interface RequestErrorDetails extends ErrorOptions {
  /** Headers that go with the answer, e.g. Allow or Content-Range. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly FieldError[];
}

/**
 * What is wrong with a request, and what the answer to it has beside the problem details. The message says
 * what to do.
 */
export class RequestError extends PasteflowError {
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly FieldError[] | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { headers = {}, errors, ...options }: RequestErrorDetails = {},
  ) {
    super(code, message, options);
    this.headers = headers;
    this.errors = errors;
  }
}

/** More than anybody corrects one by one, in an answer of some kilobytes. */
const MAX_FIELD_ERRORS = 100;

export function validationFailed(errors: readonly FieldError[]): RequestError {
  return new RequestError(
    'validation_failed',
    'Correct the fields named in `errors` and send the request again.',
    { errors: errors.slice(0, MAX_FIELD_ERRORS) },
  );
}

/** What the schema makes of it. @throws RequestError validation_failed */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw validationFailed(fieldErrors(result.error));
  return result.data;
}

/** zod reports unknown fields as one issue of the object that holds them; here each has its own line. */
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
