import type { Problem } from '../http/answers/problem.ts';
import { jsonAnswer, type Answer } from '../http/answers/answer.ts';

/** The path with which PrivateBin's clients name a paste. @param base the path of PUBLIC_URL */
function pathOf(base: string, shortCode: string): string {
  return `${base}/?${shortCode}`;
}

/** The fields of every answer about a paste that is no error. */
export function fieldsOf(base: string, shortCode: string) {
  return { status: 0, id: shortCode, url: pathOf(base, shortCode) } as const;
}

/**
 * 200, as PrivateBin answers, and not 201: some clients take everything else for an error.
 * @param deleteToken null for a paste with an owner. The clients expect a text, with which they can ask for
 * the deletion
 */
export function createdAnswerOf(base: string, shortCode: string, deleteToken: string | null): Answer {
  return jsonAnswer(200, { ...fieldsOf(base, shortCode), deletetoken: deleteToken ?? OWNED });
}

/** In place of the token of a paste that its owner deletes. */
const OWNED = 'owned';

/**
 * An error in PrivateBin's form. The HTTP status stays: its clients don't look at it, proxies and metrics do.
 */
export function privateBinProblem({ status, detail, errors }: Problem): Answer {
  const rules = errors?.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)) ?? [];
  return jsonAnswer(status, { status: 1, message: rules.length === 0 ? detail : `${rules.join('; ')}.` });
}
