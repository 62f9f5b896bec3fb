import type { Request } from 'express';
import { arrivalPage, problemPage, signInPage, type Site } from '@pasteflow/web';
import type { Problem } from '../answers/problem.ts';
import { contextOf } from '../request/request-context.ts';
import type { Answer } from '../answers/answer.ts';
import { goesOnByItself } from '../request/arrival.ts';
import { pageAnswer, type Pages } from './page.ts';
import { nextAfter } from './page-answers.ts';

/** How a problem becomes a page for this request; undefined: it stays JSON. */
export function problemPageFor(pages: Pages, req: Request): ((problem: Problem) => Answer) | undefined {
  const { wantsPage, mustSignIn, afterSignIn, requestId, refusedForm, goesOn } = contextOf(req);
  if (wantsPage !== true) return undefined;
  const site = pages.site(req);
  if (goesOn === true)
    return ({ status }) =>
      pageAnswer(status, arrivalPage(site, nextAfter(req, site.base), goesOnByItself(req)));
  return (problem) => {
    const form = refusedForm?.(problem) ?? null;
    if (form !== null) return pageAnswer(problem.status, form);
    return pageAnswer(
      problem.status,
      mustSignIn === true && SHOWN_AT_SIGN_IN.has(problem.code)
        ? signInPage(site, {
            problem,
            isRefused: afterSignIn !== undefined, // somebody was signing in
            next: afterSignIn ?? nextAfter(req, site.base),
            paste: pasteFor(req, site, problem), // found: the session is good, and the page needs another one
          })
        : problemPage(site, problem, {
            requestId,
            signIn: signInFor(req, site, problem),
            timeline: timelineFor(req, site, problem),
            paste: pasteFor(req, site, problem),
          }),
    );
  };
}

/** Who can't sign in with one way may sign in with the other one. */
const SHOWN_AT_SIGN_IN: ReadonlySet<Problem['code']> = new Set(['unauthorized', 'dependency_unavailable']);

/** The link to sign in: the owner of a private paste, too, gets 404 without a session. */
function signInFor(req: Request, { base, viewer }: Site, { code }: Problem): string | null {
  const isKnown = contextOf(req).endedPaste !== undefined;
  if (code !== 'paste_not_found' || viewer !== null || isKnown) return null;
  return `${base}/session?next=${encodeURIComponent(nextAfter(req, base))}`;
}

/**
 * The link to the timeline of a paste that was revealed, because the text of the problem refers to it, or
 * whose upload failed.
 */
function timelineFor(req: Request, { base }: Site, { code }: Problem): string | null {
  const { endedPaste } = contextOf(req);
  const isEnd = code === 'paste_gone' || code === 'paste_not_found';
  return isEnd && endedPaste !== undefined ? `${base}/${endedPaste}/timeline` : null;
}

/** The link to a paste that the reader can see, whose form was refused or which has no such file. */
function pasteFor(req: Request, { base }: Site, { code }: Problem): string | null {
  const { shortCode } = contextOf(req);
  return OF_SEEN_PASTES.has(code) && shortCode !== undefined ? `${base}/${shortCode}` : null;
}

const OF_SEEN_PASTES: ReadonlySet<Problem['code']> = new Set([
  'unauthorized', // a wrong delete token
  'slug_moved',
  'slug_move_refused',
  'paste_in_progress',
  'file_not_found',
  'not_several_files',
  'reveal_required',
]);
