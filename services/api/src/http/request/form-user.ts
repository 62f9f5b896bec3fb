import type { IncomingMessage } from 'node:http';
import { RequestError } from '../answers/request-error.ts';
import { contextOf } from './request-context.ts';

/** The field of a form, and the header of what a script sends in its place. Programs send neither. */
export const FORM_USER_FIELD = 'form_user';
export const FORM_USER_HEADER = 'form-user';

/**
 * A page may be older than the session: somebody has signed in or out in another tab, or the session has
 * ended. What its form does would be done by somebody whom the page doesn't name.
 * @param sent whom the form is for, from `formUser` of the pages; undefined: it does not say
 * @throws RequestError user_changed
 */
export function requireFormUser(req: IncomingMessage, sent: string | undefined): void {
  const { caller } = contextOf(req);
  const user = caller?.kind === 'user' ? caller.userId : '';
  if (sent === undefined || sent === user) return;
  throw new RequestError(
    'user_changed',
    'You have signed in or out since this page was opened, so that nothing was done. Open the page again, and check who is signed in.',
  );
}
