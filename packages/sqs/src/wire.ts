import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import { isShortCode, PasteflowError, type MessageContext, type UploadMessage } from '@pasteflow/domain';
import { z } from 'zod';

const uploadMessage = z.strictObject({
  shortCode: z.string().refine(isShortCode, 'not a short code'),
  contentBytes: z.base64().optional(),
});

const contextAttribute = z.string().regex(/^[\x20-\x7e]{1,200}$/);

/** Validated on the way out as on the way in: what we send, every worker of this version can read. */
export function encodeUpload(shortCode: string, content: Buffer | null): string {
  const message: UploadMessage = {
    shortCode,
    ...(content !== null && { contentBytes: content.toString('base64') }),
  };
  return JSON.stringify(uploadMessage.parse(message));
}

/** @throws PasteflowError malformed_message, saying what is wrong with it */
export function decodeUpload(body: string | undefined): UploadMessage {
  const { success, data, error } = uploadMessage.safeParse(parseJson(body ?? ''));
  if (!success) throw malformed(z.prettifyError(error));
  return {
    shortCode: data.shortCode,
    ...(data.contentBytes !== undefined && { contentBytes: data.contentBytes }),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw malformed('not JSON', error);
  }
}

function malformed(why: string, cause?: unknown): PasteflowError {
  return new PasteflowError('malformed_message', `Not an upload message: ${why}`, { cause });
}

/** SQS refuses empty and non-text attribute values: what doesn't fit is left out, a context is never worth a message. */
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
