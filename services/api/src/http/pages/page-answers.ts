import type { Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { ownPath as pathOfService } from '@pasteflow/http-kit';
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

/**
 * A path of this service to go to after signing in, from any text. A text that leads elsewhere becomes the
 * path of the user's pastes.
 * @param base the path of PUBLIC_URL
 */
export function ownPath(text: string | null | undefined, base: string): string {
  return pathOfService(text, base, `${base}/my/pastes`);
}

/** Where to go after signing in at the page of this request. The result of a form can't be shown again. */
export function nextAfter(req: IncomingMessage, base: string): string {
  return ownPath(req.method === 'GET' ? base + (req.url ?? '') : null, base);
}
