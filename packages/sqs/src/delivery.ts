import type { Message } from '@aws-sdk/client-sqs';
import type { MessageContext, UploadMessage } from '@pasteflow/domain';

/** One receipt of one message. The receipt handle is what acknowledges it or changes its visibility. */
export interface Delivery {
  readonly upload: UploadMessage;
  readonly context: MessageContext;
  readonly receiptHandle: string;
  readonly message: Message;
}
