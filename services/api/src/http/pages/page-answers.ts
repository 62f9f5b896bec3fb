import type { Response } from 'express';
import type { SessionCookie } from '../callers/session-cookie.ts';

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
