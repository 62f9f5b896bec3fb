import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Configuration } from './configuration.ts';

/** The topic of all alarms, from CloudWatch and from Prometheus. */
export class AlarmTopic extends Construct {
  readonly topic: sns.Topic;
  readonly #key: kms.Key;

  constructor(scope: Construct, id: string, { stage, alarmEmail }: Configuration) {
    super(scope, id);
    this.#key = new kms.Key(this, 'Key', { enableKeyRotation: true });
    this.#key.grantEncryptDecrypt(new ServicePrincipal('cloudwatch.amazonaws.com')); // CloudWatch can't use AWS' own key, and its messages would be lost
    this.topic = new sns.Topic(this, 'Topic', {
      topicName: `pasteflow-${stage}-alarms`,
      masterKey: this.#key,
      enforceSSL: true,
    });
    if (alarmEmail !== null) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    this.#admitPrometheus();
  }

  /**
   * Allows Amazon Managed Service for Prometheus to publish. The policy can't name the workspace, which is
   * created after the topic.
   */
  #admitPrometheus(): void {
    const stack = Stack.of(this);
    const statement = (actions: string[], resource: string) =>
      new PolicyStatement({
        principals: [new ServicePrincipal('aps.amazonaws.com')],
        actions,
        resources: [resource],
        conditions: {
          ArnLike: { 'aws:SourceArn': stack.formatArn({ service: 'aps', resource: 'workspace/*' }) },
          StringEquals: { 'aws:SourceAccount': stack.account },
        },
      });
    this.topic.addToResourcePolicy(statement(['sns:Publish', 'sns:GetTopicAttributes'], this.topic.topicArn));
    this.#key.addToResourcePolicy(statement(['kms:GenerateDataKey*', 'kms:Decrypt'], '*'));
  }
}
