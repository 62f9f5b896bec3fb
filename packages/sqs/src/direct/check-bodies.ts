import type {
  ReceiveMessageCommandOutput,
  SendMessageBatchCommandInput,
  SendMessageBatchCommandOutput,
} from '@aws-sdk/client-sqs';
import { md5 } from './digests.ts';

/** @throws when a body is not the one that SQS has, as the SDK does */
export function checkReceived({ Messages = [] }: Pick<ReceiveMessageCommandOutput, 'Messages'>): void {
  throwIfAny(Messages.filter(({ Body = '', MD5OfBody }) => MD5OfBody !== md5(Body)));
}

/** @throws when SQS has another body than the one that was sent, as the SDK does */
export function checkSent(
  { Entries = [] }: Pick<SendMessageBatchCommandInput, 'Entries'>,
  { Successful = [] }: Partial<Pick<SendMessageBatchCommandOutput, 'Successful'>>,
): void {
  const bodies = new Map(Entries.map(({ Id, MessageBody = '' }) => [Id, MessageBody]));
  throwIfAny(Successful.filter(({ Id, MD5OfMessageBody }) => MD5OfMessageBody !== md5(bodies.get(Id) ?? '')));
}

function throwIfAny(damaged: readonly { readonly MessageId?: string | undefined }[]): void {
  if (damaged.length > 0)
    throw new Error(
      `Invalid MD5 checksum on messages: ${damaged.map(({ MessageId }) => MessageId).join(', ')}`,
    );
}
