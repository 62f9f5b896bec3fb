import {
  jsonPaste,
  textOptions,
  encryptionErrors,
  ownerErrors,
  type SentOptions,
  toOptions,
} from '@pasteflow/service-kit';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { IDEMPOTENCY_KEY } from '../http/idempotency/idempotency.ts';
import { freeMemory } from '../http/body/body-bytes.ts';
import { parseJson } from '../http/body/json-body.ts';
import { MULTIPART_OVERHEAD_BYTES, readForm, type Form } from '../http/body/multipart.ts';
import { readBody, type BodyLimit } from '../http/body/read-body.ts';
import { RequestError, validate, validationFailed } from '../http/answers/request-error.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import { assertUtf8, mediaTypeOf } from '../http/request/media-type.ts';
import { readQuery } from '../http/request/query.ts';
import { filesOfForm, filesOfJson, withFiles } from './sent-files.ts';

/** A browser without JavaScript sends no header of its own. */
export const formKey = z
  .string()
  .regex(IDEMPOTENCY_KEY, 'must have 1 to 255 printable ASCII characters')
  .optional()
  .meta({
    description:
      'For pages, in place of an Idempotency-Key, which takes precedence: the same form with the same key and fields gets the first answer again. With other fields it is another request.',
    examples: ['8f1d4c3a-6b0e-4f5a-9c2d-7e1b3a5d9f00'],
  });

/** A page without JavaScript can't send a header. */
export const formDeleteToken = z.string().optional().meta({
  description: 'Of the anonymous paste that this one supersedes, in place of the header `Delete-Token`.',
});

/** A field of a form is a text, and the parts of the files have none of their own. */
export const formFileSyntaxes = z
  .string()
  .optional()
  .meta({
    description:
      'The languages of the files: an entry for each file in order, between commas. An empty entry is none.',
    examples: ['typescript,,markdown'],
  });

const formOptions = textOptions.extend({
  form_key: formKey,
  delete_token: formDeleteToken,
  file_syntaxes: formFileSyntaxes,
});

export interface ReceivedPaste extends SentOptions {
  readonly content: Buffer;
  /** The key of a form that a page sent. */
  readonly formKey?: string;
  /** Of the paste that this one supersedes: from the field of a form, or the header. */
  readonly deleteToken?: string | undefined;
  /** What a newer version takes from the older one, because nothing is said of it. Default: nothing. */
  readonly inherited?: readonly InheritedOption[] | undefined;
}

/** What a newer version has from the older one unless something else is said. */
const inheritedOptions = ['title', 'syntax', 'visibility', 'expires_in'] as const;
export type InheritedOption = (typeof inheritedOptions)[number];

/** JSON escapes most bytes of a text as one or two bytes. Content that needs more can be a raw body. */
const JSON_BYTES_PER_CONTENT_BYTE = 2;
/** The names of the options and of 100 files, and their values. */
const JSON_OVERHEAD_BYTES = 64 * 1024;

/**
 * The budget counts a raw byte once, although it takes two in memory: in the content, and in the statement to
 * Postgres. JSON also has the text (two bytes for a character beyond Latin-1) and the content as a string.
 */
const WEIGHTS = { raw: 1, form: 1, json: 2 };

/** A paste is an object of some texts and numbers, and of 100 files with three texts each. The rest is spare. */
const JSON_LIMITS = { maxDepth: 32, maxValues: 1000 };

/** Also of a paste that breaks other rules: an answer names all of them. */
const documentOfPaste = jsonPaste.refine(
  ({ content, files }) => (content === undefined) !== (files === undefined),
  {
    path: ['content'],
    error: ({ input }) =>
      (input as z.output<typeof jsonPaste>).files === undefined
        ? 'must be a text, unless you send `files`'
        : 'must be left out when you send `files`; send one of them',
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
);

export function maxJsonBytes(maxContentBytes: number): number {
  return maxContentBytes * JSON_BYTES_PER_CONTENT_BYTE + JSON_OVERHEAD_BYTES;
}

type TextOptions = z.output<typeof textOptions>;

const anyParameters = z.record(z.string(), z.string());
const noParameters = z.strictObject({}).transform(() => null);

/**
 * Reads a paste from a form, from JSON, or from any other body, which is then the content, with the options
 * in the query. Headers and query are checked before the body is read.
 * @param json whether an application/json body is a document that holds the content; otherwise the body is the
 * content
 * @param onForm called with a form before its fields are checked
 * @param amend makes another form of it
 * @throws RequestError for each rule that the request breaks
 */
export async function receivePaste(
  api: ApiContext,
  req: Request,
  res: Response,
  {
    json,
    onForm,
    amend = async (form) => form,
  }: {
    readonly json: boolean;
    readonly onForm?: (form: Form) => void;
    readonly amend?: (form: Form) => Promise<Form>;
  },
): Promise<ReceivedPaste> {
  const { maxPasteBytes: maxBytes, bodies: budget } = api;
  const caller = callerOf(req);
  api.limits.refuseUsedUpBytes(res, caller);
  /** @param said the names of the fields that were sent */
  const optionsOf = (sent: TextOptions, said: () => readonly string[]): Omit<ReceivedPaste, 'content'> => {
    const options = toOptions(sent);
    const errors = caller.kind === 'anonymous' ? ownerErrors(options) : [];
    if (errors.length > 0) throw validationFailed(errors);
    if (options.supersedes === undefined) return options;
    const names = said();
    return {
      ...options,
      deleteToken: req.get('Delete-Token'),
      inherited: inheritedOptions.filter((name) => !names.includes(name)),
    };
  };
  const mediaType = mediaTypeOf(req);
  const isForm = mediaType.type === 'multipart/form-data';
  const isJson = mediaType.type === 'application/json' && json;
  if (isJson) assertUtf8(mediaType);
  const query = readQuery<TextOptions | null>(req, isForm || isJson ? noParameters : textOptions);

  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${maxBytes} bytes of content.`);
  const limit: Omit<BodyLimit, 'weight'> = { maxBytes, tooLarge, budget };

  let received: ReceivedPaste;
  if (query !== null) {
    const options = optionsOf(query, () => Object.keys(readQuery(req, anyParameters)));
    received = { content: await readBody(req, res, { ...limit, weight: WEIGHTS.raw }), ...options };
  } else if (isJson) {
    const body = await readBody(req, res, {
      ...limit,
      maxBytes: maxJsonBytes(maxBytes),
      tooLarge: jsonTooLarge(maxBytes),
      weight: WEIGHTS.json,
    });
    const document = parseJson(body, JSON_LIMITS);
    freeMemory(body);
    const { content, files, ...sent } = validate(documentOfPaste, document);
    const options = optionsOf(sent, () => Object.keys(document as object));
    if (files === undefined) received = { content: Buffer.from(content ?? ''), ...options };
    else {
      const sentFiles = filesOfJson(files);
      received = { content: sentFiles.content, ...withFiles(sentFiles.files, options) };
    }
  } else {
    const formLimit = { ...limit, maxBytes: maxBytes + MULTIPART_OVERHEAD_BYTES, weight: WEIGHTS.form };
    const form = await amend(await readForm(req, res, formLimit, onForm));
    // A form without JavaScript can't leave a field out: what nobody has chosen is that of the older paste.
    const fields = new Map(form.fields);
    if (fields.get('supersedes') && fields.get('expires_in') === '') fields.delete('expires_in');
    const {
      form_key: formKey,
      delete_token: deleteToken,
      file_syntaxes: syntaxes,
      ...sent
    } = validate(formOptions, Object.fromEntries(fields));
    const options = optionsOf(sent, () => [...fields.keys()]);
    received = {
      content: contentOfForm(form),
      ...(formKey !== undefined && { formKey }),
      ...filesOfForm(form, syntaxes, options),
      ...(deleteToken !== undefined && deleteToken !== '' && { deleteToken }),
    };
  }
  if (received.content.length > maxBytes) throw tooLarge();
  if (received.content.length === 0) throw contentEmpty('must not be empty');
  const errors = received.encrypted === true ? encryptionErrors(received) : [];
  if (errors.length > 0) throw validationFailed(errors);
  return received;
}

/**
 * The page's form has a field and files, one of which is empty. A browser writes the newlines of a field as
 * CR LF (HTML, 4.10.21.4), which nobody typed.
 */
function contentOfForm({ content, files, text }: Form): Buffer {
  if (text === null || text.length === 0) {
    if (content === null) throw contentEmpty('is missing; send a field or a file of this name');
    return content;
  }
  if ((content !== null && content.length > 0) || files.length > 1) {
    throw validationFailed([
      { path: 'content', message: 'must be empty when `text` is not; send one of them' },
    ]);
  }
  return Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

function jsonTooLarge(maxBytes: number): () => RequestError {
  return () =>
    new RequestError(
      'content_too_large',
      `Send at most ${maxJsonBytes(maxBytes)} bytes of JSON, or the content as a raw body of at most ${maxBytes} bytes.`,
    );
}

function contentEmpty(message: string): RequestError {
  return new RequestError('content_empty', 'Send at least one byte of content.', {
    errors: [{ path: 'content', message }],
  });
}
