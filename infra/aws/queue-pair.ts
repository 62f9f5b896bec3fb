import { Duration } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { QueueDescription, QueueSettings } from '../resources.ts';

/**
 * A queue and its dead-letter queue as resources.json describes them. Both are encrypted and accept only TLS.
 */
export class QueuePair extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetters: sqs.Queue;

  constructor(
    scope: Construct,
    id: string,
    props: { name: string; deadLetterName: string; description: QueueDescription },
  ) {
    super(scope, id);
    const { name, deadLetterName, description } = props;
    this.deadLetters = this.#make('DeadLetters', deadLetterName, description.deadLetters);
    this.queue = this.#make('Queue', name, description, {
      queue: this.deadLetters,
      maxReceiveCount: description.maxReceiveCount,
    });
  }

  #make(
    id: string,
    queueName: string,
    settings: QueueSettings,
    deadLetterQueue?: sqs.DeadLetterQueue,
  ): sqs.Queue {
    return new sqs.Queue(this, id, {
      queueName,
      visibilityTimeout: Duration.seconds(settings.visibilitySeconds),
      retentionPeriod: Duration.seconds(settings.retentionSeconds),
      // The key of SQS: a KMS key would cost a request to KMS for each data key, and every paste would depend
      // on KMS.
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...(deadLetterQueue && { deadLetterQueue }),
    });
  }
}
