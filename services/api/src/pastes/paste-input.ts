import { jsonPaste, textOptions, toOptions, type PasteOptions } from '@pasteflow/pastes';
import { z } from 'zod';
import { validate, validationFailed } from '../http/errors/request-error.ts';

const noOptions = z.strictObject({});

/** @throws RequestError validation_failed */
export function parseJsonPaste(value: unknown): { readonly content: string; readonly options: PasteOptions } {
  const { content, ...options } = validate(jsonPaste, value);
  return { content, options: toOptions(options) };
}

/** The options as query parameters or form fields. @throws RequestError validation_failed */
export function parseTextOptions(fields: ReadonlyMap<string, string>): PasteOptions {
  return toOptions(validate(textOptions, Object.fromEntries(fields)));
}

/** For requests whose options aren't in the query. @throws RequestError validation_failed */
export function refuseParameters(query: ReadonlyMap<string, string>): void {
  validate(noOptions, Object.fromEntries(query));
}

/** For pastes without an owner, who alone could read it. @throws RequestError validation_failed */
export function refusePrivate({ visibility }: PasteOptions): void {
  if (visibility !== 'private') return;
  throw validationFailed([
    { path: 'visibility', message: 'can be private only with a token, for its owner' },
  ]);
}
