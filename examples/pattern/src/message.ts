import type { Decode } from '@pasteflow/sqs';
import { z } from 'zod';

/** A message only says that an e-mail may be due: what is to be done is in Postgres. */
const message = z.strictObject({ emailId: z.uuid() });

export const encodeMessage = (emailId: string): string => JSON.stringify({ emailId });

/** @throws for a malformed message, which goes to the dead-letter queue */
export const decodeMessage: Decode<{ emailId: string }> = (body) => message.parse(JSON.parse(body ?? ''));
