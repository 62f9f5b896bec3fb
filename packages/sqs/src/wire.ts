import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import {
  isShortCode,
  isUuid,
  PasteflowError,
  type JobMessage,
  type MessageContext,
  type UploadMessage,
} from '@pasteflow/domain';
import { z } from 'zod';

// A field that this release doesn't know is left out: workers of this release also get messages of the next one.
const uploadMessage = z.object({
  shortCode: z.string().refine(isShortCode, 'not a short code'),
  contentBytes: z.base64().optional(),
});

const codeOnly = uploadMessage.pick({ shortCode: true });

/** In lower case, as Postgres writes it, because claimed jobs are looked up by this text. */
const jobMessage = z.object({
  jobId: z.string().refine(isUuid, 'not the id of a job'),
});

const contextAttribute = z.string().regex(/^[\x20-\x7e]{1,200}$/);

/** Decodes the body of a message. @throws PasteflowError malformed_message, which names what is wrong */
export type Decode<Body> = (body: string | undefined) => Body;

/**
 * The short code is validated with the schema that decodes it, so that every worker of this version can read
 * what is sent. What Buffer encodes is base64: to match 2 KB of it would take 6 µs, more than all else here.
 */
export function encodeUpload(shortCode: string, content: Buffer | null): string {
  const message: UploadMessage = {
    ...codeOnly.parse({ shortCode }),
    ...(content !== null && { contentBytes: content.toString('base64') }),
  };
  return JSON.stringify(message);
}

export function encodeJob(jobId: string): string {
  const message: JobMessage = { jobId };
  return JSON.stringify(jobMessage.parse(message));
}

export const decodeUpload: Decode<UploadMessage> = (body) => {
  const { shortCode, contentBytes } = decode(body, uploadMessage, 'an upload message');
  return { shortCode, ...(contentBytes !== undefined && { contentBytes }) };
};

export const decodeJob: Decode<JobMessage> = (body) => decode(body, jobMessage, 'a job message');

function decode<Body>(body: string | undefined, schema: z.ZodType<Body>, expected: string): Body {
  const { success, data, error } = schema.safeParse(parseJson(body ?? '', expected));
  if (!success) throw malformed(expected, z.prettifyError(error));
  return data;
}

function parseJson(body: string, expected: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw malformed(expected, 'not JSON', error);
  }
}

function malformed(expected: string, why: string, cause?: unknown): PasteflowError {
  return new PasteflowError('malformed_message', `Not ${expected}: ${why}`, { cause });
}

/**
 * SQS rejects a message with an empty or non-text attribute value. Such values are left out, so that the
 * message is sent anyway.
 */
export function encodeContext(context: MessageContext): Record<string, MessageAttributeValue> {
  return Object.fromEntries(
    Object.entries(context)
      .filter(([, value]) => contextAttribute.safeParse(value).success)
      .map(([name, value]) => [name, { DataType: 'String', StringValue: value as string }]),
  );
}

export function decodeContext(attributes: Message['MessageAttributes']): MessageContext {
  const requestId = attributes?.requestId?.StringValue;
  const traceparent = attributes?.traceparent?.StringValue;
  return { ...(requestId !== undefined && { requestId }), ...(traceparent !== undefined && { traceparent }) };
}
