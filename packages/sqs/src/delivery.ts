import type { Message } from '@aws-sdk/client-sqs';
import type { MessageContext } from '@pasteflow/domain';

/** One receipt of one message. Its receipt handle is needed to acknowledge the message or to change its visibility timeout. */
export interface Delivery<Body> {
  /** The decoded body: an UploadMessage or a JobMessage. */
  readonly body: Body;
  readonly context: MessageContext;
  readonly receiptHandle: string;
  readonly message: Message;
}
