/** What SQS calls a queue's attributes; all values are strings there. */
export interface QueueDefinition {
  name: string;
  attributes: Record<string, string>;
}

const DAY_SECONDS = 86_400;

// Retries, hand-backs and crashes use receives up, and attempts are counted in Postgres: this only ends a message
// that no worker ever gets rid of.
const MAX_RECEIVE_COUNT = 100;

/** A queue and its dead-letter queue `<name>-dead-letters`, that one first: the redrive policy points at it. */
export function queueWithDeadLetters(name: string, region: string): QueueDefinition[] {
  const deadLetters = `${name}-dead-letters`;
  return [
    {
      name: deadLetters,
      // A dead letter keeps its original send time, so it needs the longer retention: 14 days is the longest there is.
      attributes: { VisibilityTimeout: '30', MessageRetentionPeriod: String(14 * DAY_SECONDS) },
    },
    {
      name,
      attributes: {
        VisibilityTimeout: '30',
        MessageRetentionPeriod: String(4 * DAY_SECONDS),
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: `arn:aws:sqs:${region}:${EMULATOR_ACCOUNT}:${deadLetters}`,
          maxReceiveCount: MAX_RECEIVE_COUNT,
        }),
      },
    },
  ];
}

/** The account id that fauxqs, like LocalStack, uses in every ARN and queue URL. */
export const EMULATOR_ACCOUNT = '000000000000';
