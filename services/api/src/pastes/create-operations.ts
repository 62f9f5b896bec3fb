import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiRequestBodyObject } from 'zod-openapi';
import { jsonPaste, textOptions } from '@pasteflow/service-kit';
import type { ApiContext } from '../context.ts';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Operation } from '../http/openapi/endpoint.ts';
import { jsonResponse, optionalHeader } from '../http/openapi/formats.ts';
import { example } from './example.ts';
import { formDeleteToken, formFileSyntaxes, formKey, maxJsonBytes } from './receive-paste.ts';
import { createdPasteSchema } from './paste-view.ts';

const { content, title, syntax, expiresIn } = example;

const form = textOptions.extend({
  content: z.string().meta({
    description:
      'The content, as a field or a file. Without it, files are sent, up to 100, in order and in fields of any name: one is the content, several are the files of the paste, each with its file name.',
    contentMediaType: 'application/octet-stream',
  }),
  file_syntaxes: formFileSyntaxes,
  form_key: formKey,
  delete_token: formDeleteToken,
});

const asJson: ZodOpenApiMediaTypeObject = {
  schema: jsonPaste.meta({
    oneOf: [
      { type: 'object', required: ['content'], properties: { content: { type: 'string' } } },
      { type: 'object', required: ['files'], properties: { files: { type: 'array' } } },
    ],
  }),
  example: { content, title, syntax, expires_in: expiresIn },
};
const asForm: ZodOpenApiMediaTypeObject = {
  schema: form,
  example: { content, title, syntax, expires_in: expiresIn },
};
const asBytes: ZodOpenApiMediaTypeObject = { example: content };

/**
 * The bodies that receivePaste accepts.
 * @param json whether JSON is parsed; otherwise it is content like any other body
 */
function pasteBodies({
  maxPasteBytes,
  json,
}: {
  maxPasteBytes: number;
  json: boolean;
}): ZodOpenApiRequestBodyObject {
  return {
    required: true,
    description:
      `1 to ${maxPasteBytes} bytes of content${json ? `, in JSON of at most ${maxJsonBytes(maxPasteBytes)} bytes` : ''}. In ${json ? 'JSON and in a form' : 'a form'} the options are fields, and ` +
      'the query must be empty. Any other body is the content itself, byte for byte, with the options in the query.',
    content: {
      ...(json && { 'application/json': asJson }),
      'multipart/form-data': asForm,
      '*/*': asBytes,
    },
  };
}

const errors: readonly ProblemCode[] = [
  'content_empty',
  'content_too_large',
  'content_blocked',
  'quota_exceeded',
  'storage_full',
  'parent_not_found',
  'superseded',
  'paste_in_progress',
  'paste_held',
  'unauthorized',
  'validation_failed',
  'unsupported_encoding',
  'short_code_taken',
  'slug_taken',
  'slug_limit_reached',
  'overloaded',
  'request_timeout',
  'dependency_unavailable',
];

const params = {
  query: textOptions,
  header: z.object({
    'Delete-Token': optionalHeader(
      'The delete_token of the anonymous paste that this one supersedes.',
      example.deleteToken,
    ),
    traceparent: optionalHeader(
      'W3C trace context, which is passed on to the upload. A malformed one is ignored.',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ),
  }),
};

function accessOf({ anonymousPastes }: ApiContext): Operation['access'] {
  return anonymousPastes === 'deny' ? 'user' : 'anyone';
}

/** The operation of POST /v1/pastes. */
export function createOperation(api: ApiContext): Operation {
  return {
    operationId: 'createPaste',
    isShared: true,
    tag: 'pastes',
    access: accessOf(api),
    summary: 'Creates a paste from JSON, from a form, or from any other body as it is.',
    description:
      "With a token, the paste belongs to the token's user, who can list and delete it. Without a token, the answer has a delete_token.",
    params,
    body: pasteBodies({ maxPasteBytes: api.maxPasteBytes, json: true }),
    answers: {
      201: jsonResponse('The paste is stored durably. Its upload is in progress.', createdPasteSchema, {
        Location: headers.location,
      }),
    },
    errors: [...errors, 'unsupported_media_type'],
  };
}

/** The operation of POST /. */
export function shellOperation(api: ApiContext): Operation {
  return {
    operationId: 'createPasteFromShell',
    isShared: true,
    tag: 'shell',
    access: accessOf(api),
    summary:
      'Creates a paste from a form, or from any other body as it is (including JSON), and answers with its URL.',
    description: '`COMMAND | curl --data-binary @- HOST`',
    params,
    body: pasteBodies({ maxPasteBytes: api.maxPasteBytes, json: false }),
    answers: {
      201: {
        description: 'The paste is stored durably. The body is its URL and a newline.',
        headers: z.object({ Location: headers.location, 'Delete-Token': headers.deleteToken }),
        content: { 'text/plain': { schema: z.string().regex(/^https?:\S+\n$/) } },
      },
    },
    errors,
  };
}
