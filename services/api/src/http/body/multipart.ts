import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { RequestError, validationFailed } from '../errors/request-error.ts';

/** How much larger than its content a body may be: boundaries, part headers and the short fields. */
export const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** More than any field needs: the longest is a title, 200 characters of 4 bytes each. */
const MAX_FIELD_BYTES = 4096;
const MAX_PARTS = 20;

export interface Form {
  /** The field or file named `content`, else the first file; null when the form has neither. */
  readonly content: Buffer | null;
  /** The other fields, as text. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Parses a whole multipart/form-data body. `content` is read as bytes even when it is a plain field: busboy
 * replaces the bytes of a text field that are not UTF-8.
 * @throws RequestError malformed_request, or validation_failed for repeated fields and fields that are too
 * long
 */
export async function parseForm(req: IncomingMessage, body: Buffer): Promise<Form> {
  const parser = openParser(req);
  const fields = new Map<string, string>();
  let content: Buffer | null = null;
  let firstFile: Buffer | null = null;
  return await new Promise<Form>((resolve, reject) => {
    const refuse = (path: string, message: string): void => reject(validationFailed([{ path, message }]));
    let sawContent = false;
    parser.on('file', (name, stream) => {
      const chunks: Buffer[] = [];
      if (name === 'content' && sawContent) refuse('content', 'must not be repeated');
      sawContent ||= name === 'content';
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', (error) => reject(malformedForm(error)));
      stream.on('end', () => {
        if (name === 'content') content = Buffer.concat(chunks);
        else firstFile ??= Buffer.concat(chunks);
      });
    });
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      if (fields.has(name)) refuse(name, 'must not be repeated');
      if (valueTruncated) refuse(name, `must have at most ${MAX_FIELD_BYTES} bytes`);
      fields.set(name, value);
    });
    parser.on('partsLimit', () => refuse('', `must have at most ${MAX_PARTS} parts`));
    parser.on('error', (error) => reject(malformedForm(error)));
    parser.on('finish', () => resolve({ content: content ?? firstFile, fields }));
    parser.end(body);
  });
}

function openParser(req: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: req.headers as BusboyHeaders,
      isPartAFile: (name, _type, fileName) => name === 'content' || fileName !== undefined,
      limits: { fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS, headerPairs: 20, headerSize: 8192 },
    });
  } catch (error) {
    throw malformedForm(error); // the Content-Type has no boundary
  }
}

function malformedForm(error: unknown): RequestError {
  return new RequestError(
    'malformed_request',
    'The body is not a complete multipart/form-data document. Correct it and send the request again.',
    {
      cause: error,
    },
  );
}
