import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, hasUnreadBody } from '../body/drain.ts';
import { answerTo } from '../errors/problem.ts';
import { pathOf } from '../request/request-context.ts';
import type { RequestEvents } from '../telemetry/request-events.ts';

/**
 * Answers a request with problem details: the one place where an error becomes an answer.
 * `rest` of the body: `lost` when the connection's parser has given up, so that there is none to wait for; `coming` when it is known to come.
 */
export function respondWithError(
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
  events: RequestEvents,
  { rest = hasUnreadBody(req) ? 'coming' : 'lost' }: { rest?: 'coming' | 'lost' } = {},
): void {
  if (res.destroyed || res.writableEnded) return; // nobody is there, or everything is said
  if (res.headersSent) {
    events.brokeOff(req, error);
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
  // The answer is complete for the client by its Content-Length; end() would have Node close the socket at
  // once.
  res.setHeader('Connection', 'close');
  res.write(body);
  drain(req, () => res.end());
}
