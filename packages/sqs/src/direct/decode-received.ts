import type { Message, MessageAttributeValue, ReceiveMessageCommandOutput } from '@aws-sdk/client-sqs';

/** The output of the SDK. It differs from the answer in one field: the value of a binary attribute is base64 there, and bytes here. */
export function decodeReceived(answer: {
  readonly Messages?: Message[];
}): Pick<ReceiveMessageCommandOutput, 'Messages'> {
  for (const { MessageAttributes = {} } of answer.Messages ?? [])
    for (const attribute of Object.values(MessageAttributes)) decodeBinary(attribute);
  return answer;
}

function decodeBinary(attribute: MessageAttributeValue): void {
  const base64 = attribute.BinaryValue as string | undefined;
  if (base64 !== undefined) attribute.BinaryValue = new Uint8Array(Buffer.from(base64, 'base64'));
}
