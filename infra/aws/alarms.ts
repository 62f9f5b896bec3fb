import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { connectionsAllowed, type Configuration } from './configuration.ts';
import type { DataStack } from './data-stack.ts';

export interface AlarmsProps {
  readonly configuration: Configuration;
  readonly data: DataStack;
  readonly balancer: elb.ApplicationLoadBalancer;
  readonly requests: elb.ApplicationTargetGroup;
  readonly services: Readonly<Record<string, ecs.FargateService>>;
  /** How many tasks of each there are at least. */
  readonly least: Readonly<Record<string, number>>;
}

interface Rule {
  readonly metric: cloudwatch.IMetric;
  /** Above this. */
  readonly above?: number;
  readonly below?: number;
  readonly minutes: number;
  readonly meaning: string;
  /** No data is bad news: what should report is gone. */
  readonly silenceIsBad?: boolean;
}

const MINUTE = Duration.minutes(1);

/** What CloudWatch sees by itself. What only Postgres knows (zombies, overdue sweeps) is in the services' own metrics, with Prometheus' rules. */
export class Alarms extends Construct {
  readonly #topic: sns.Topic;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.#topic = this.#makeTopic(props.configuration);
    for (const [name, rule] of Object.entries({
      ...queueRules(props),
      ...apiRules(props),
      ...serviceRules(props),
      ...databaseRules(props),
    }))
      this.#watch(name, rule);
  }

  #makeTopic({ stage, alarmEmail }: Configuration): sns.Topic {
    const key = new kms.Key(this, 'Key', { enableKeyRotation: true });
    key.grantEncryptDecrypt(new ServicePrincipal('cloudwatch.amazonaws.com')); // under AWS' own key its messages would be lost
    const topic = new sns.Topic(this, 'Topic', {
      topicName: `pasteflow-${stage}-alarms`,
      masterKey: key,
      enforceSSL: true,
    });
    if (alarmEmail !== null) topic.addSubscription(new EmailSubscription(alarmEmail));
    return topic;
  }

  #watch(name: string, { metric, above, below, minutes, meaning, silenceIsBad = false }: Rule): void {
    const alarm = new cloudwatch.Alarm(this, name, {
      metric,
      threshold: above ?? below ?? 0,
      comparisonOperator:
        above === undefined
          ? cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
          : cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: minutes,
      alarmDescription: meaning,
      treatMissingData: silenceIsBad
        ? cloudwatch.TreatMissingData.BREACHING
        : cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(this.#topic);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }
}

/** An upload has to be settled within 60 s of the last fault, and nothing should ever be a dead letter. */
function queueRules({ data }: AlarmsProps): Record<string, Rule> {
  const rules: Record<string, Rule> = {};
  for (const [name, { queue, deadLetters }, longest] of [
    ['Uploads', data.uploads, 120],
    ['Jobs', data.jobs, 900],
  ] as const) {
    rules[`${name}QueueAge`] = {
      metric: queue.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: 'Maximum' }),
      above: longest,
      minutes: 5,
      meaning: `The oldest message of ${name.toLowerCase()} is older than ${longest} s: workers are missing, or S3 or Postgres is away.`,
    };
    rules[`${name}DeadLetters`] = {
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: 'Maximum' }),
      above: 0,
      minutes: 5, // dead-letters reads them once a minute: what is still there then can't be settled
      meaning: `Dead letters of ${name.toLowerCase()} stay: the janitor is missing, or can't settle what they stand for.`,
    };
  }
  return rules;
}

function apiRules({ balancer, requests }: AlarmsProps): Record<string, Rule> {
  const errors = new cloudwatch.MathExpression({
    expression: '100 * (FILL(target, 0) + FILL(own, 0)) / requests',
    label: 'Share of requests answered with 5xx, in percent',
    period: MINUTE,
    usingMetrics: {
      target: balancer.metrics.httpCodeTarget(elb.HttpCodeTarget.TARGET_5XX_COUNT, { period: MINUTE }),
      own: balancer.metrics.httpCodeElb(elb.HttpCodeElb.ELB_5XX_COUNT, { period: MINUTE }),
      requests: balancer.metrics.requestCount({ period: MINUTE }),
    },
  });
  return {
    ApiErrors: {
      metric: errors,
      above: 5,
      minutes: 5,
      meaning:
        'More than 5 % of the requests are answered with 5xx (503 for a paste whose upload is under way included).',
    },
    ApiSlow: {
      metric: requests.metrics.targetResponseTime({ period: MINUTE, statistic: 'p99' }),
      above: 2,
      minutes: 5,
      meaning: 'One request in a hundred takes more than 2 s to its first byte.',
    },
    ApiUnhealthy: {
      metric: requests.metrics.unhealthyHostCount({ period: MINUTE, statistic: 'Maximum' }),
      above: 0,
      minutes: 5,
      meaning: 'An api task has not been ready for 5 minutes: it says why at /readyz.',
    },
  };
}

function serviceRules({ services, least }: AlarmsProps): Record<string, Rule> {
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => [
      `Tasks-${name}`,
      {
        metric: new cloudwatch.Metric({
          namespace: 'ECS/ContainerInsights',
          metricName: 'RunningTaskCount',
          dimensionsMap: { ClusterName: service.cluster.clusterName, ServiceName: service.serviceName },
          statistic: 'Minimum',
          period: MINUTE,
        }),
        below: least[name] ?? 1,
        minutes: 5,
        silenceIsBad: true,
        meaning: `Fewer ${name} tasks run than there should be: see the service's events and its log.`,
      },
    ]),
  );
}

function databaseRules({ configuration, data: { database } }: AlarmsProps): Record<string, Rule> {
  const gib = 2 ** 30;
  const connections = Math.floor(0.8 * connectionsAllowed(configuration));
  return {
    DatabaseProcessor: {
      metric: database.metricCPUUtilization({ period: MINUTE }),
      above: 80,
      minutes: 15,
      meaning: 'Postgres is short of processor: docs/scaling.md says what to do.',
    },
    DatabaseStorage: {
      metric: database.metricFreeStorageSpace({ period: MINUTE, statistic: 'Minimum' }),
      below: 5 * gib,
      minutes: 5,
      meaning: 'Less than 5 GiB are free, and storage grows no further by itself, or too slowly.',
      silenceIsBad: true,
    },
    DatabaseConnections: {
      metric: database.metricDatabaseConnections({ period: MINUTE, statistic: 'Maximum' }),
      above: connections,
      minutes: 5,
      meaning: `More than ${connections} connections, 80 % of what the instance allows.`,
    },
    DatabaseTransactionIds: {
      metric: database.metric('MaximumUsedTransactionIDs', { period: MINUTE, statistic: 'Maximum' }),
      above: 1_000_000_000,
      minutes: 15,
      meaning: 'Autovacuum does not keep up with freezing: Postgres stops writing at two billion.',
    },
  };
}
