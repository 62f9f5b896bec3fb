import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { connectionsAllowed, type Configuration } from './configuration.ts';
import type { DataStack, QueuePair } from './data-stack.ts';

export interface AlarmsProps {
  readonly configuration: Configuration;
  readonly topic: sns.ITopic;
  readonly data: DataStack;
  readonly balancer: elb.ApplicationLoadBalancer;
  readonly requests: elb.ApplicationTargetGroup;
  readonly services: Readonly<Record<string, ecs.FargateService>>;
  /** The minimum number of tasks of each service. */
  readonly min: Readonly<Record<string, number>>;
}

interface Rule {
  readonly metric: cloudwatch.IMetric;
  /** The alarm fires above this value. */
  readonly above?: number;
  readonly below?: number;
  readonly minutes: number;
  readonly meaning: string;
  /** Missing data counts as a breach: the source of the metric is gone. */
  readonly silenceIsBad?: boolean;
}

const MINUTE = Duration.minutes(1);

/**
 * What CloudWatch measures and the Prometheus rules don't: the database, the load balancer, and missing
 * tasks. The Prometheus rules are in Monitoring.
 */
export class Alarms extends Construct {
  readonly #topic: sns.ITopic;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.#topic = props.topic;
    for (const [name, rule] of Object.entries({
      ...queueRules(props),
      ...apiRules(props),
      ...serviceRules(props),
      ...databaseRules(props),
    }))
      this.#watch(name, rule);
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

/** An upload must be settled within 60 s of the last fault, and no message should become a dead letter. */
function queueRules({
  configuration: { uploadWorker },
  data: { uploads, jobs },
}: AlarmsProps): Record<string, Rule> {
  const maxJobs = uploadWorker.max * uploadWorker.jobsPerTask;
  return {
    UploadsQueueAge: {
      metric: uploads.queue.metricApproximateAgeOfOldestMessage({ period: MINUTE, statistic: 'Maximum' }),
      above: 120,
      minutes: 5,
      meaning:
        'The oldest upload message is older than 120 s: workers are missing, or S3 or Postgres is unavailable.',
    },
    // The age is no measure here: it grows while a job runs, and an export may run for hours.
    JobsQueueLong: {
      metric: jobs.queue.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: 'Minimum' }),
      above: maxJobs,
      minutes: 15,
      meaning: `More than ${maxJobs} jobs have waited for 15 minutes. The upload-workers can't run so many, even at full scale.`,
    },
    ...deadLetterRule('Uploads', uploads),
    ...deadLetterRule('Jobs', jobs),
  };
}

function deadLetterRule(name: string, { deadLetters }: QueuePair): Record<string, Rule> {
  return {
    [`${name}DeadLetters`]: {
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: MINUTE, statistic: 'Maximum' }),
      above: 0,
      minutes: 5, // dead-letters reads them once a minute: what is still there then can't be settled
      meaning: `Dead letters of ${name.toLowerCase()} are not processed: the janitor is missing, or it can't settle their executions.`,
    },
  };
}

/**
 * What only the load balancer can measure. Its count of the api's 5xx includes each 503 for a paste whose
 * upload is in progress, and its response times include the waits that clients asked for. The alert
 * PasteflowApiErrors covers the api's own answers.
 */
function apiRules({ balancer, requests }: AlarmsProps): Record<string, Rule> {
  const errors = new cloudwatch.MathExpression({
    // The load balancer counts a request only when it has a target for the request.
    expression: '100 * own / (own + FILL(requests, 0))',
    label: "Share of the load balancer's own 5xx, in percent",
    period: MINUTE,
    usingMetrics: {
      own: balancer.metrics.httpCodeElb(elb.HttpCodeElb.ELB_5XX_COUNT, { period: MINUTE }),
      requests: balancer.metrics.requestCount({ period: MINUTE }),
    },
  });
  return {
    ApiUnreachable: {
      metric: errors,
      above: 5,
      minutes: 5,
      meaning:
        'More than 5 % of the requests got a 5xx from the load balancer: no api task answers, or connections to the tasks break.',
    },
    ApiUnhealthy: {
      metric: requests.metrics.unhealthyHostCount({ period: MINUTE, statistic: 'Maximum' }),
      above: 0,
      minutes: 5,
      meaning:
        'For 5 minutes an api task has not answered at /healthz. ECS replaces such tasks, so the new tasks do not start either.',
    },
  };
}

function serviceRules({ services, min }: AlarmsProps): Record<string, Rule> {
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
        below: min[name] ?? 1,
        minutes: 5,
        silenceIsBad: true,
        meaning: `Too few ${name} tasks run. Read the service's events and its log.`,
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
      meaning: 'Postgres is short of CPU. See docs/performance.md.',
    },
    DatabaseStorage: {
      metric: database.metricFreeStorageSpace({ period: MINUTE, statistic: 'Minimum' }),
      below: 5 * gib,
      minutes: 5,
      meaning:
        'Less than 5 GiB of storage are free. Storage autoscaling has reached its limit, or is too slow.',
      silenceIsBad: true,
    },
    DatabaseConnections: {
      metric: database.metricDatabaseConnections({ period: MINUTE, statistic: 'Maximum' }),
      above: connections,
      minutes: 5,
      meaning: `Postgres has more than ${connections} connections, which is 80 % of the instance's limit.`,
    },
    DatabaseTransactionIds: {
      metric: database.metric('MaximumUsedTransactionIDs', { period: MINUTE, statistic: 'Maximum' }),
      above: 1_000_000_000,
      minutes: 15,
      meaning:
        'Autovacuum does not freeze rows fast enough. Postgres stops writing at an age of two billion transactions.',
    },
  };
}
