import type { IncomingMessage, ServerResponse } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { MAX_FILES } from '@pasteflow/domain';
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
/** The files of a paste and its other fields. */
const MAX_PARTS = MAX_FILES + 20;
const MAX_PART_HEADERS = 20;
const MAX_PART_HEADER_BYTES = 8192;

/** A file of a form. Its content is a range of the content of the form, behind those of the files before it. */
export interface FormFile {
  /** As the client named it, with the path; empty: it has sent no name. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
}

export interface Form {
  /** The contents of the files one after the other, or the field named `content`; null: neither. */
  readonly content: Buffer | null;
  /** In order. A browser sends an empty file without a name where nothing was picked: it is none. */
  readonly files: readonly FormFile[];
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
  readonly #typed = new Map<TypedField, BodyBytes>();
  readonly #files: { readonly name: string; size: number }[] = [];
  /** The contents of all files: a buffer for each would be in memory twice while they become one. */
  readonly #contents = new BodyBytes();
  #delivered = 0;
  #error: Error | null = null;

  constructor(boundary: string) {
    this.#parts = new PartCounter(boundary);
    this.#parser = new Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      isPartAFile: (name, _type, fileName) => fileName !== undefined || isTyped(name ?? ''),
      preservePath: true,
      limits: {
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_PARTS,
        headerPairs: MAX_PART_HEADERS,
        headerSize: MAX_PART_HEADER_BYTES,
      },
    });
    this.#parser.on('file', (name, stream, fileName?: string) => {
      this.#delivered += 1;
      stream.on('error', (error) => (this.#error ??= malformedForm(error)));
      if (fileName === undefined && isTyped(name)) this.#readTyped(name, stream);
      else this.#readFile(fileName ?? '', stream);
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
    const files = this.#files.filter(({ name, size }) => name !== '' || size > 0);
    const typed = this.#typed.get('content')?.bytes;
    if (typed !== undefined && files.length > 0)
      this.#refuse('content', 'must be left out when you send files; send one of them');
    if (this.#error !== null) throw this.#error;
    return {
      content: typed ?? (this.#files.length > 0 ? this.#contents.bytes : null),
      files,
      text: this.#typed.get('text')?.bytes ?? null,
      fields: this.#fields,
    };
  }

  /** For a form that is refused. */
  free(): void {
    this.#contents.free();
    for (const text of this.#typed.values()) text.free();
  }

  #readTyped(name: TypedField, stream: NodeJS.ReadableStream): void {
    const text = new BodyBytes();
    if (this.#typed.has(name)) this.#refuse(name, 'must not be repeated');
    else this.#typed.set(name, text);
    stream.on('data', (chunk: Buffer) => text.add(chunk));
  }

  #readFile(name: string, stream: NodeJS.ReadableStream): void {
    const file = { name, size: 0 };
    if (name.includes('\ufffd')) this.#refuse(`files.${this.#files.length}.name`, 'must be UTF-8');
    if (this.#files.push(file) > MAX_FILES) this.#refuse('files', `must have at most ${MAX_FILES} files`);
    stream.on('data', (chunk: Buffer) => {
      file.size += chunk.length;
      this.#contents.add(chunk);
    });
  }

  #refuseParts(): void {
    this.#refuse('', `must have at most ${MAX_PARTS} parts`);
  }

  #refuse(path: string, message: string): void {
    this.#error ??= validationFailed([{ path, message }]);
  }
}

/** What a person types into a page. A part of this name with a file name is a file like any other. */
type TypedField = 'content' | 'text';
const isTyped = (name: string): name is TypedField => name === 'content' || name === 'text';

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
