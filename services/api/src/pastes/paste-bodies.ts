import { z } from 'zod';
import type { ZodOpenApiMediaTypeObject, ZodOpenApiRequestBodyObject } from 'zod-openapi';
import { example } from './example.ts';
import { formKey } from './paste-schemas.ts';
import { maxJsonBytes } from './receive-paste.ts';
import { jsonPaste, textOptions } from '@pasteflow/service-kit';

const { content, title, syntax, expiresIn } = example;

const form = textOptions.extend({
  content: z.string().meta({
    description: 'The content, as a field or a file. Without it, the one file of any name is the content.',
    contentMediaType: 'application/octet-stream',
  }),
  form_key: formKey,
});

const asJson: ZodOpenApiMediaTypeObject = {
  schema: jsonPaste,
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
export function pasteBodies({
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
