import { z } from 'zod';
import type { ProblemCode } from '../http/errors/problem-codes.ts';
import * as headers from '../openapi/answer-headers.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { pasteBodies } from './paste-bodies.ts';
import { textOptions } from '@pasteflow/service-kit';
import { createdPasteSchema } from './paste-view.ts';

const errors: readonly ProblemCode[] = [
  'content_empty',
  'content_too_large',
  'content_blocked',
  'parent_not_found',
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
    traceparent: z
      .string()
      .optional()
      .meta({
        param: {
          description: 'W3C trace context, which is passed on to the upload. A malformed one is ignored.',
          example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        },
      }),
  }),
};

export interface CreateRules {
  readonly maxPasteBytes: number;
  readonly anonymousPastes: 'allow' | 'deny';
}

function accessOf({ anonymousPastes }: CreateRules): Operation['access'] {
  return anonymousPastes === 'deny' ? 'user' : 'anyone';
}

/** The operation of POST /v1/pastes. */
export function createOperation(rules: CreateRules): Operation {
  return {
    operationId: 'createPaste',
    tag: 'pastes',
    access: accessOf(rules),
    summary: 'Creates a paste from JSON, from a form, or from any other body as it is.',
    description:
      "With a token, the paste belongs to the token's user, who can list and delete it. Without a token, the answer has a delete_token.",
    params,
    body: pasteBodies({ maxPasteBytes: rules.maxPasteBytes, json: true }),
    answers: {
      201: {
        description: 'The paste is stored durably. Its upload is in progress.',
        headers: z.object({ Location: headers.location }),
        content: { 'application/json': { schema: createdPasteSchema } },
      },
    },
    errors: [...errors, 'unsupported_media_type'],
  };
}

/** The operation of POST /. */
export function shellOperation(rules: CreateRules): Operation {
  return {
    operationId: 'createPasteFromShell',
    tag: 'shell',
    access: accessOf(rules),
    summary:
      'Creates a paste from a form, or from any other body as it is (including JSON), and answers with its URL.',
    description: '`COMMAND | curl --data-binary @- HOST`',
    params,
    body: pasteBodies({ maxPasteBytes: rules.maxPasteBytes, json: false }),
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
