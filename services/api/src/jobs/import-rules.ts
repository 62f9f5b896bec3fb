import { importErrors } from '@pasteflow/jobs';
import type { ApiContext } from '../context.ts';
import { validationFailed } from '../http/answers/request-error.ts';

/** @throws RequestError validation_failed for the parameters of an import that break the rules of the house */
export function refuseBrokenRules({ house }: Pick<ApiContext, 'house'>, parameters: object): void {
  const errors = importErrors(house, parameters);
  if (errors.length > 0)
    throw validationFailed(errors.map((error) => ({ ...error, path: `parameters.${error.path}` })));
}
