import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Metrics } from '@pasteflow/runtime';
import { bodyIncomplete } from '../body/read-body.ts';
import { answerTo } from '../answers/problem.ts';
import { RequestError } from '../answers/request-error.ts';

/**
 * Why Node's HTTP parser, or one of its time limits, ended a connection before there was a request to answer,
 * and the error that the client gets; null: none.
 */
const refusals = {
  connect: () =>
    new RequestError('method_not_allowed', 'This server is no proxy. Use GET or POST.', {
      headers: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
    }),
  headers_too_large: () =>
    new RequestError(
      'request_headers_too_large',
      'The URL or the headers are too long. Send a shorter URL and fewer or shorter headers.',
    ),
  chunk_extensions_too_large: () =>
    new RequestError('malformed_request', 'Send chunks with shorter extensions, or with none.'),
  incomplete: bodyIncomplete,
  malformed: (cause: Error) =>
    new RequestError(
      'malformed_request',
      'The bytes that arrived are not a valid HTTP request. Correct the client.',
      { cause },
    ),
  timeout: () =>
    new RequestError(
      'request_timeout',
      'The request took too long to arrive. Send it again over a faster connection.',
    ),
  /** A client that has sent nothing may be about to send a request, and would take a 408 for its answer. */
  unused: null,
} as const;

type ParserRefusal = keyof typeof refusals;

/** Strangers cause refusals at any rate, so that they are counted and not logged. */
export function countRefusals(metrics: Metrics): (reason: ParserRefusal) => void {
  const refused = metrics.counter({
    name: 'http_parser_refusals_total',
    help: 'Requests that the HTTP parser or its time limits refused, by reason.',
    labels: ['reason'],
  });
  for (const reason of Object.keys(refusals)) refused.inc({ reason }, 0);
  return (reason) => refused.inc({ reason });
}

/** Translates an error of Node's parser or timers; null: an error of the socket. */
function refusalOf(error: NodeJS.ErrnoException, socket: Socket): ParserRefusal | null {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return socket.bytesRead === 0 ? 'unused' : 'timeout';
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large';
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 'chunk_extensions_too_large';
    case 'HPE_INVALID_EOF_STATE':
      return 'incomplete';
    default:
      return error.code?.startsWith('HPE_') === true ? 'malformed' : null;
  }
}

export interface ClientErrorOptions {
  /** From headersOfEveryAnswer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refused: (reason: ParserRefusal) => void;
  /** Answers a pending request with an error. */
  readonly respond: (res: ServerResponse, error: RequestError) => void;
}

/**
 * Handles an error of a connection.
 * @param pending the answer to the last request whose headers arrived, while this answer is open
 */
export function handleClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  pending: ServerResponse | undefined,
  { headers, refused, respond }: ClientErrorOptions,
): void {
  const refusal = refusalOf(error, socket);
  if (refusal !== null) refused(refusal);
  const requestError = refusal === null ? undefined : refusals[refusal]?.(error);
  if (!socket.writable || requestError === undefined) {
    socket.destroy();
    return;
  }
  if (pending === undefined || pending.writableFinished) {
    socket.end(rawAnswer(requestError, headers), () => socket.destroy());
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

/** Answers a CONNECT, whose connection Node would close without an answer. */
export function refuseConnect(
  socket: Duplex,
  { headers, refused }: Pick<ClientErrorOptions, 'headers' | 'refused'>,
): void {
  refused('connect');
  socket.on('error', () => {}); // Node has removed its own listener
  socket.end(rawAnswer(refusals.connect(), headers), () => socket.destroy());
}

/** Problem details for a connection without a request to answer. */
function rawAnswer(error: RequestError, everyAnswer: Readonly<Record<string, string>>): string {
  const { problem, headers, body } = answerTo(error, 'about:blank');
  const fields = { ...everyAnswer, ...headers, 'X-Request-Id': randomUUID(), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, '', body.toString()].join(
    '\r\n',
  );
}
