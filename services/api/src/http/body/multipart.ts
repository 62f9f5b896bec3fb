import type { IncomingMessage, ServerResponse } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { RequestError, validationFailed } from '../answers/request-error.ts';
import { contentTypeOf } from '../request/media-type.ts';
import { FORM_USER_FIELD, requireFormUser } from '../request/form-user.ts';
import { BodyBytes } from './body-bytes.ts';
import { PartCounter } from './part-counter.ts';
import { readChunks, type BodyLimit } from './read-body.ts';

/** How much larger than its content a body may be: boundaries, part headers and the short fields. */
export const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

/** More than any field needs: the longest is a title, 200 characters of 4 bytes each. */
const MAX_FIELD_BYTES = 4096;
const MAX_PARTS = 20;
const MAX_PART_HEADERS = 20;
const MAX_PART_HEADER_BYTES = 8192;

export interface Form {
  /** The field or file named `content`, or the one file of another name; null: neither. */
  readonly content: Buffer | null;
  /** The name of that file, as the client named it; null: none. */
  readonly fileName: string | null;
  /** The field named `text`, which a browser sends for the form of the page at `/`; null: none. */
  readonly text: Buffer | null;
  /** The other fields, as text. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Parses a multipart/form-data body as it arrives. It is refused at the chunk that breaks a bound.
 * @throws RequestError malformed_request; validation_failed for too many parts, for repeated fields and for
 * fields that are too long; and as readChunks and requireFormUser
 * @param onForm called before the form is refused for its user
 */
export async function readForm(
  req: IncomingMessage,
  res: ServerResponse,
  limit: BodyLimit,
  onForm?: (form: Form) => void,
): Promise<Form> {
  const parser = new FormParser(boundaryOf(req));
  try {
    await readChunks(req, res, limit, (chunk) => parser.write(chunk));
    const { fields, ...form } = await parser.end();
    const { [FORM_USER_FIELD]: user, ...others } = Object.fromEntries(fields);
    const received = { ...form, fields: new Map(Object.entries(others)) };
    onForm?.(received);
    requireFormUser(req, user);
    return received;
  } catch (error) {
    parser.free();
    throw error;
  }
}

/**
 * `content` and `text` are read as bytes even when they are plain fields: busboy replaces the bytes of a text
 * field that are not UTF-8.
 */
class FormParser {
  readonly #parts: PartCounter;
  readonly #parser;
  readonly #fields = new Map<string, string>();
  readonly #finished: Promise<void>;
  readonly #seen = new Set<Role>();
  readonly #named = new Map<Role, Buffer>();
  readonly #received: BodyBytes[] = [];
  #firstFile: Buffer | null = null;
  #fileName: string | null = null;
  #files = 0;
  #delivered = 0;
  #error: Error | null = null;

  constructor(boundary: string) {
    this.#parts = new PartCounter(boundary);
    this.#parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      isPartAFile: (name, _type, fileName) => roleOf(name ?? '', fileName) !== null || fileName !== undefined,
      limits: {
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_PARTS,
        headerPairs: MAX_PART_HEADERS,
        headerSize: MAX_PART_HEADER_BYTES,
      },
    });
    this.#parser.on('file', (name, stream, fileName) => {
      this.#readFile(name, roleOf(name, fileName), stream);
      this.#fileName ??= fileName ?? null;
    });
    this.#parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      this.#delivered += 1;
      if (this.#fields.has(name)) this.#refuse(name, 'must not be repeated');
      if (valueTruncated) this.#refuse(name, `must have at most ${MAX_FIELD_BYTES} bytes`);
      this.#fields.set(name, value);
    });
    this.#parser.on('partsLimit', () => this.#refuseParts());
    this.#finished = new Promise((resolve) => {
      this.#parser.on('finish', resolve);
      this.#parser.on('error', (error) => {
        this.#error ??= malformedForm(error);
        resolve();
      });
    });
  }

  /**
   * Delimiters are counted before busboy sees the chunk: it builds a stream for each part, and a part needs
   * no more than the bytes of its delimiter. 2 MiB of `--a` lines took it 27 s and 2.5 GB.
   * @throws RequestError as readForm
   */
  write(chunk: Buffer): void {
    // The last delimiter ends the body.
    if (this.#parts.count(chunk, MAX_PARTS + 1) > MAX_PARTS + 1) this.#refuseParts();
    if (this.#parts.isMalformed) this.#error ??= malformedDelimiter();
    if (this.#error !== null) throw this.#error;
    this.#parser.write(chunk);
  }

  /** @throws RequestError as readForm */
  async end(): Promise<Form> {
    this.#parser.end();
    await this.#finished;
    // busboy skips parts whose headers it does not understand.
    if (this.#delivered !== this.#parts.parts) this.#error ??= malformedPart();
    if (this.#error !== null) throw this.#error;
    return {
      content: this.#named.get('content') ?? this.#firstFile,
      fileName: this.#fileName || null,
      text: this.#named.get('text') ?? null,
      fields: this.#fields,
    };
  }

  /** For a form that is refused. */
  free(): void {
    for (const content of this.#received) content.free();
  }

  #readFile(name: string, role: Role | null, stream: NodeJS.ReadableStream): void {
    const content = new BodyBytes();
    this.#received.push(content);
    this.#delivered += 1;
    if (role !== null && this.#seen.has(role)) this.#refuse(role, 'must not be repeated');
    if (role !== null) this.#seen.add(role);
    if (role !== 'text') this.#files += 1;
    if (this.#files > 1)
      this.#refuse(
        role ?? name,
        'is a second file; send one file in a request, and the others in requests of their own',
      );
    const isKept = role !== null || this.#files === 1;
    stream.on('data', (chunk: Buffer) => {
      if (isKept) content.add(chunk);
    });
    stream.on('error', (error) => (this.#error ??= malformedForm(error)));
    stream.on('end', () => {
      if (role !== null) this.#named.set(role, content.bytes);
      else this.#firstFile ??= content.bytes;
    });
  }

  #refuseParts(): void {
    this.#refuse('', `must have at most ${MAX_PARTS} parts`);
  }

  #refuse(path: string, message: string): void {
    this.#error ??= validationFailed([{ path, message }]);
  }
}

type Role = 'content' | 'text';

/** What a part is for, by its name. A file named `text` is a file like any other: only a field was typed. */
function roleOf(name: string, fileName: string | undefined): Role | null {
  if (name === 'content') return name;
  return name === 'text' && fileName === undefined ? name : null;
}

/** RFC 2046, 5.1.1, and other printable characters that need no escape. */
const BOUNDARY = /^[ !#-[\]-~]{1,70}$/;

/** @throws RequestError malformed_request */
export function boundaryOf(req: IncomingMessage): string {
  const boundary = contentTypeOf(req).parameters.get('boundary') ?? '';
  if (BOUNDARY.test(boundary) && !boundary.endsWith(' ')) return boundary;
  throw new RequestError(
    'malformed_request',
    'Send a Content-Type of multipart/form-data with a boundary of 1 to 70 characters.',
  );
}

function malformedDelimiter(): RequestError {
  return new RequestError(
    'malformed_request',
    'Begin the body with the first delimiter, end it with the last one, and write each delimiter as CR LF, two hyphens, the boundary and CR LF, without blanks (RFC 2046, 5.1.1).',
  );
}

function malformedPart(): RequestError {
  return new RequestError(
    'malformed_request',
    'Give each part of the form headers that end with an empty line, among them Content-Disposition: form-data; name="…".',
  );
}

function malformedForm(error: unknown): RequestError {
  return new RequestError(
    'malformed_request',
    'The body is not a complete multipart/form-data document. Correct it and send the request again.',
    { cause: error },
  );
}
