import type { Message } from '@aws-sdk/client-sqs';
import type { MessageContext } from '@pasteflow/domain';

/** One receipt of one message. The receipt handle is what acknowledges it or changes its visibility. */
export interface Delivery<Body> {
  /** What its body says: an UploadMessage or a JobMessage. */
  readonly body: Body;
  readonly context: MessageContext;
  readonly receiptHandle: string;
  readonly message: Message;
}
