import type { IncomingMessage, ServerResponse } from 'node:http';
import { assertUtf8, parseJson } from '../http/body/json-body.ts';
import { mediaTypeOf } from '../http/request/media-type.ts';
import { MULTIPART_OVERHEAD_BYTES, parseForm } from '../http/body/multipart.ts';
import { parseQuery } from '../http/request/query.ts';
import { readBody } from '../http/body/read-body.ts';
import { RequestError } from '../http/errors/request-error.ts';
import type { PasteOptions } from '@pasteflow/pastes';
import { parseJsonPaste, parseTextOptions, refuseParameters, refusePrivate } from './paste-input.ts';

export interface ReceivedPaste extends PasteOptions {
  readonly content: Buffer;
}

export interface ReceiveOptions {
  readonly maxBytes: number;
  /**
   * Whether a body of type application/json is a document that holds the content, or is the content itself.
   */
  readonly json: boolean;
  /** Nobody owns what is received: it can't be private. */
  readonly anonymous: boolean;
}

/** JSON may write each byte of the content as \u00XX; the rest is for the other fields. */
const JSON_BYTES_PER_CONTENT_BYTE = 6;
const JSON_OVERHEAD_BYTES = 16 * 1024;

/**
 * Reads a paste from the body in any of its three forms. All that the headers and the query tell is checked
 * before the body is read.
 * @throws RequestError for whatever rule the request breaks
 */
export async function receivePaste(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, json, anonymous }: ReceiveOptions,
): Promise<ReceivedPaste> {
  const { type } = mediaTypeOf(req);
  const query = parseQuery(req);
  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${maxBytes} bytes of content.`);
  const body = (limit: number): Promise<Buffer> => readBody(req, res, { maxBytes: limit, tooLarge });

  let received: ReceivedPaste;
  if (type === 'multipart/form-data') {
    refuseParameters(query);
    received = await fromForm(req, await body(maxBytes + MULTIPART_OVERHEAD_BYTES));
  } else if (type === 'application/json' && json) {
    refuseParameters(query);
    assertUtf8(req);
    received = fromJson(await body(maxBytes * JSON_BYTES_PER_CONTENT_BYTE + JSON_OVERHEAD_BYTES));
  } else {
    const options = parseTextOptions(query);
    if (anonymous) refusePrivate(options);
    received = { content: await body(maxBytes), ...options };
  }
  if (anonymous) refusePrivate(received);
  if (received.content.length > maxBytes) throw tooLarge();
  if (received.content.length === 0) throw contentEmpty('must not be empty');
  return received;
}

async function fromForm(req: IncomingMessage, body: Buffer): Promise<ReceivedPaste> {
  const { content, fields } = await parseForm(req, body);
  const options = parseTextOptions(fields);
  if (content === null) throw contentEmpty('is missing: send a field or a file of this name');
  return { content, ...options };
}

function fromJson(body: Buffer): ReceivedPaste {
  const { content, options } = parseJsonPaste(parseJson(body));
  return { content: Buffer.from(content), ...options };
}

function contentEmpty(message: string): RequestError {
  return new RequestError('content_empty', 'Send at least one byte of content.', {
    errors: [{ path: 'content', message }],
  });
}
