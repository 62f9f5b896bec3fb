import type { Request } from 'express';
import { problemPage } from '@pasteflow/web';
import type { Problem } from '../http/errors/problem.ts';
import { contextOf } from '../http/request/request-context.ts';
import type { Answer } from '../http/response/answer.ts';
import type { Pages } from '../site/compose-site.ts';
import { pageAnswer } from '../site/send-page.ts';

/** How a problem becomes a page for this request; undefined: it stays JSON. */
export function problemPageFor(pages: Pages, req: Request): ((problem: Problem) => Answer) | undefined {
  const { wantsPage, requestId } = contextOf(req);
  if (wantsPage !== true) return undefined;
  return (problem) => pageAnswer(problem.status, problemPage(pages.site(), problem, requestId));
}
