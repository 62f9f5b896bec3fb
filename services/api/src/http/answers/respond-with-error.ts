import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, hasUnreadBody } from '../body/drain.ts';
import { answerTo, type Problem } from './problem.ts';
import { RequestError } from './request-error.ts';
import { pathOf } from '../request/request-context.ts';
import type { Answer } from './answer.ts';
import type { RequestEvents } from '../server/request-events.ts';

/**
 * Answers a request with problem details. This is the only place where an error becomes an answer.
 * @param rest the unread part of the body: `coming`, or `lost` when the parser has given up and no more will
 * arrive
 * @param page the problem as a page, for a browser
 */
export function respondWithError(
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
  events: RequestEvents,
  {
    rest = hasUnreadBody(req) || isTooSlow(req, error) ? 'coming' : 'lost',
    page,
  }: { rest?: 'coming' | 'lost'; page?: ((problem: Problem) => Answer) | undefined } = {},
): void {
  if (res.destroyed || res.writableEnded) return; // the client is gone, or the answer is complete
  if (res.headersSent) {
    events.cutOff(req, error);
    res.destroy();
    return;
  }
  const { problem, ...plain } = answerTo(error, pathOf(req));
  const { headers, body } = page === undefined ? plain : asPage(plain.headers, page(problem));
  events.failed(req, error, problem);
  res.statusCode = problem.status;
  for (const name of ['ETag', 'Accept-Ranges', 'Content-Encoding']) res.removeHeader(name);
  res.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (rest === 'lost') {
    res.end(body);
    return;
  }
  // Content-Length makes the answer complete for the client; end() would make Node close the socket at once.
  res.setHeader('Connection', 'close');
  res.write(body);
  drain(req, () => res.end());
}

/** A slow sender is still sending, and its connection is of no more use. */
function isTooSlow(req: IncomingMessage, error: unknown): boolean {
  return error instanceof RequestError && error.code === 'request_timeout' && !req.complete;
}

/** The headers of the error, for instance Retry-After, stay. */
function asPage(
  headers: Readonly<Record<string, string>>,
  page: Answer,
): { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer } {
  const body = Buffer.from(page.body);
  return { headers: { ...headers, ...page.headers, 'Content-Length': String(body.length) }, body };
}
