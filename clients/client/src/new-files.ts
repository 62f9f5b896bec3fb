import type { NewPasteFields } from './api-types.ts';
import { type Bytes, type Content, type ContentSource, contentSource } from './paste-content.ts';
import type { RetryPolicy } from './retries.ts';
import type { CallOptions, CreateOptions, WaitOptions } from './waiting.ts';

/** A file of a new paste. Its content can be sent again, as a stream can't. */
export interface NewFile {
  /** A relative path, with `/` between its parts. */
  readonly name: string;
  readonly content: string | Uint8Array | Blob;
  /** Default: the name or the first line tells. */
  readonly syntax?: string | undefined;
}

/** What a creation sends, for each of its tries. */
interface NewPasteSource extends ContentSource {
  readonly query: NewPasteFields;
  readonly headers: Readonly<Record<string, string>>;
}

/** One content is the body, and the options are in the query. Several files are a form with the options. */
export function newPasteSource(
  content: Content | readonly NewFile[],
  fields: NewPasteFields,
): NewPasteSource {
  if (!isFiles(content))
    return {
      ...contentSource(content),
      query: fields,
      headers: { 'Content-Type': 'application/octet-stream' },
    };
  const form = formOf(content, fields);
  const next = (): Promise<{ readonly body: FormData }> => Promise.resolve({ body: form });
  return { next, isRepeatable: () => true, release: () => {}, query: {}, headers: {} };
}

function isFiles(content: Content | readonly NewFile[]): content is readonly NewFile[] {
  return Array.isArray(content);
}

function formOf(files: readonly NewFile[], fields: NewPasteFields): FormData {
  const form = new FormData();
  const [first, second] = files;
  // As in JSON: a form leaves the name of its one file out of the paste.
  const title = first !== undefined && second === undefined ? { title: first.name } : {};
  for (const [name, value] of Object.entries({ ...title, ...fields }))
    if (value !== undefined) form.append(name, String(value));
  if (files.some(({ syntax }) => syntax !== undefined))
    form.append('file_syntaxes', files.map(({ syntax = '' }) => syntax).join(','));
  for (const { name, content } of files) form.append('file', blobOf(content), name);
  return form;
}

/** @throws TypeError for a string that UTF-8 can't encode */
function blobOf(content: NewFile['content']): Blob {
  if (content instanceof Blob) return content;
  contentSource(content); // which refuses lone surrogates
  return new Blob([content as Bytes | string]);
}

/** The options of the paste, as the API names them, and those of the call. `deleteToken`: of a superseded paste. */
export interface CreatePasteOptions extends CreateOptions, NewPasteFields, OwnPasteOptions {}

export interface RevealOptions extends WaitOptions {
  /**
   * At least 16 characters that nobody can guess: it gives access to the content for five minutes. Default: a
   * random one.
   */
  readonly idempotencyKey?: string | undefined;
  /** Overrides of the client's policy for this call. */
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Called before each request. */
  readonly onTry?: (() => void) | undefined;
}

/** Of a call that only the owner of a paste may make, or who has the delete token of an anonymous one. */
export interface OwnPasteOptions extends CallOptions {
  /** Needed for an anonymous paste; the owner needs none. */
  readonly deleteToken?: string | undefined;
}
