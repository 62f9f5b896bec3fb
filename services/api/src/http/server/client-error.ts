import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bodyIncomplete } from '../body/read-body.ts';
import { answerTo } from '../errors/problem.ts';
import { RequestError } from '../errors/request-error.ts';
import { defaultHeaders } from '../response/response-headers.ts';

/** Translates an error of Node's parser or timers. */
function toRequestError(error: NodeJS.ErrnoException): RequestError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestError(
        'request_timeout',
        'The request took too long to arrive. Send it again over a faster connection.',
      );
    case 'HPE_HEADER_OVERFLOW':
      return new RequestError(
        'request_headers_too_large',
        'The URL or the headers are too long. Send a shorter URL and fewer or shorter headers.',
      );
    case 'HPE_INVALID_EOF_STATE':
      return bodyIncomplete();
    default:
      return new RequestError(
        'malformed_request',
        'The bytes that arrived are not a valid HTTP request. Correct the client.',
        {
          cause: error,
        },
      );
  }
}

/**
 * Handles an error of a connection.
 * @param pending the answer to the last request whose headers arrived
 * @param respond answers a pending request with an error
 */
export function handleClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  pending: ServerResponse | undefined,
  respond: (res: ServerResponse, error: RequestError) => void,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const requestError = toRequestError(error);
  if (pending === undefined || pending.writableFinished) {
    socket.end(rawAnswer(requestError), () => socket.destroy());
  } else if (pending.req.complete) {
    // The error is in the bytes after a complete request, which is still answered.
    pending.once('close', () => socket.destroy());
  } else if (pending.headersSent) {
    socket.destroy();
  } else {
    pending.shouldKeepAlive = false;
    pending.once('close', () => socket.destroy());
    respond(pending, requestError);
  }
}

/** Problem details for a connection without a request to answer. */
function rawAnswer(error: RequestError): string {
  const { problem, headers, body } = answerTo(error, 'about:blank');
  const fields = { ...defaultHeaders, ...headers, 'X-Request-Id': randomUUID(), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body.toString()].join(
    '\r\n',
  );
}
