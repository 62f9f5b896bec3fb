import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, hasUnreadBody } from '../body/drain.ts';
import { answerTo } from '../errors/problem.ts';
import { pathOf } from '../request/request-context.ts';
import type { RequestEvents } from '../telemetry/request-events.ts';

/**
 * Answers a request with problem details. This is the only place where an error becomes an answer.
 * @param rest the unread part of the body: `coming`, or `lost` when the parser has given up and no more will
 * arrive
 */
export function respondWithError(
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
  events: RequestEvents,
  { rest = hasUnreadBody(req) ? 'coming' : 'lost' }: { rest?: 'coming' | 'lost' } = {},
): void {
  if (res.destroyed || res.writableEnded) return; // the client is gone, or the answer is complete
  if (res.headersSent) {
    events.cutOff(req, error);
    res.destroy();
    return;
  }
  const { problem, headers, body } = answerTo(error, pathOf(req));
  events.failed(req, error, problem);
  res.statusCode = problem.status;
  for (const name of ['ETag', 'Accept-Ranges']) res.removeHeader(name);
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
