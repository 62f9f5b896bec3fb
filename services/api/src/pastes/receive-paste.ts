import type { IncomingMessage, ServerResponse } from 'node:http';
import { toOptions, type PasteOptions, type textOptions } from '@pasteflow/pastes';
import { z } from 'zod';
import { parseJson } from '../http/body/json-body.ts';
import { MULTIPART_OVERHEAD_BYTES, parseForm } from '../http/body/multipart.ts';
import { readBody } from '../http/body/read-body.ts';
import { RequestError, validate } from '../http/errors/request-error.ts';
import { assertUtf8, mediaTypeOf } from '../http/request/media-type.ts';
import { readQuery } from '../http/request/query.ts';
import { anonymousSchemas, ownedSchemas } from './paste-schemas.ts';

export interface ReceivedPaste extends PasteOptions {
  readonly content: Buffer;
}

export interface ReceiveOptions {
  readonly maxBytes: number;
  /**
   * Whether an application/json body is a document that holds the content; otherwise the body is the content.
   */
  readonly json: boolean;
  /** Whether the paste has no owner: then it can't be private. */
  readonly anonymous: boolean;
}

/** JSON can write each byte of the content as \u00XX; the rest is for the other fields. */
const JSON_BYTES_PER_CONTENT_BYTE = 6;
const JSON_OVERHEAD_BYTES = 16 * 1024;

type TextOptions = z.output<typeof textOptions>;

const noParameters = z.strictObject({}).transform(() => null);

/**
 * Reads a paste from a form, from JSON, or from any other body, which is then the content, with the options
 * in the query. Headers and query are checked before the body is read.
 * @throws RequestError for each rule that the request breaks
 */
export async function receivePaste(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, json, anonymous }: ReceiveOptions,
): Promise<ReceivedPaste> {
  const schemas = anonymous ? anonymousSchemas : ownedSchemas;
  const mediaType = mediaTypeOf(req);
  const isForm = mediaType.type === 'multipart/form-data';
  const isJson = mediaType.type === 'application/json' && json;
  if (isJson) assertUtf8(mediaType);
  const query = readQuery<TextOptions | null>(req, isForm || isJson ? noParameters : schemas.text);

  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${maxBytes} bytes of content.`);
  const maxJsonBytes = maxBytes * JSON_BYTES_PER_CONTENT_BYTE + JSON_OVERHEAD_BYTES;
  const maxFormBytes = maxBytes + MULTIPART_OVERHEAD_BYTES;
  const maxBodyBytes = isJson ? maxJsonBytes : isForm ? maxFormBytes : maxBytes;
  const body = await readBody(req, res, { maxBytes: maxBodyBytes, tooLarge });

  let received: ReceivedPaste;
  if (query !== null) {
    received = { content: body, ...toOptions(query) };
  } else if (isJson) {
    const { content, ...options } = validate(schemas.json, parseJson(body));
    received = { content: Buffer.from(content), ...toOptions(options) };
  } else {
    const { content, fields } = await parseForm(req, body);
    const options = validate(schemas.text, Object.fromEntries(fields));
    if (content === null) throw contentEmpty('is missing; send a field or a file of this name');
    received = { content, ...toOptions(options) };
  }
  if (received.content.length > maxBytes) throw tooLarge();
  if (received.content.length === 0) throw contentEmpty('must not be empty');
  return received;
}

function contentEmpty(message: string): RequestError {
  return new RequestError('content_empty', 'Send at least one byte of content.', {
    errors: [{ path: 'content', message }],
  });
}
