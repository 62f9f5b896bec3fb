import { Duration, Stack } from 'aws-cdk-lib';
import * as scaling from 'aws-cdk-lib/aws-applicationautoscaling';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Configuration } from './configuration.ts';
import type { DataStack } from './data-stack.ts';

/** Scales on requests per minute and task, and on CPU for the few requests that run long. */
export function scaleApi(
  service: ecs.FargateService,
  { min, max, requestsPerTask }: Configuration['api'],
  targetGroup: elb.ApplicationTargetGroup,
): void {
  const count = service.autoScaleTaskCount({ minCapacity: min, maxCapacity: max });
  count.scaleOnRequestCount('Requests', {
    requestsPerTarget: requestsPerTask,
    targetGroup,
    scaleInCooldown: Duration.minutes(5),
    scaleOutCooldown: Duration.minutes(1),
  });
  count.scaleOnCpuUtilization('Processor', { targetUtilizationPercent: 65 });
}

/**
 * Scales on the backlog of uploads and of jobs for each task. Of two target-tracking policies, either can add
 * tasks, and both must agree before a task is removed. (A step policy on jobs would add tasks, and the policy
 * on uploads would remove them while jobs still wait.) It also scales on the age of the oldest upload, for a
 * queue that is short but not served. A message keeps its age through all of its retries (31 s and the puts),
 * so the limit is a minute. During an outage of S3, more workers don't help, but `max` bounds their number.
 */
export function scaleUploadWorker(
  service: ecs.FargateService,
  { min, max, backlogPerTask, jobsPerTask }: Configuration['uploadWorker'],
  { uploads, jobs }: Pick<DataStack, 'uploads' | 'jobs'>,
): void {
  const count = service.autoScaleTaskCount({ minCapacity: min, maxCapacity: max });
  const target = count.node.findChild('Target').node.findChild('Resource') as scaling.CfnScalableTarget;
  trackBacklog('UploadWorkerBacklog', {
    name: 'backlog-per-task',
    target,
    service,
    queue: uploads.queue,
    perTask: backlogPerTask,
  });
  trackBacklog('UploadWorkerJobs', {
    name: 'jobs-per-task',
    target,
    service,
    queue: jobs.queue,
    perTask: jobsPerTask,
  });
  count.scaleOnMetric('Age', {
    metric: uploads.queue.metricApproximateAgeOfOldestMessage({
      period: Duration.minutes(1),
      statistic: 'Maximum',
    }),
    scalingSteps: [
      { upper: 60, change: 0 },
      { lower: 60, change: +2 },
      { lower: 300, change: +6 },
    ],
    adjustmentType: scaling.AdjustmentType.CHANGE_IN_CAPACITY,
    cooldown: Duration.minutes(2),
  });
}

interface Backlog {
  readonly name: string;
  readonly target: scaling.CfnScalableTarget;
  readonly service: ecs.FargateService;
  readonly queue: sqs.Queue;
  readonly perTask: number;
}

function trackBacklog(id: string, { name, target, service, queue, perTask }: Backlog): void {
  new scaling.CfnScalingPolicy(Stack.of(service), id, {
    policyName: name,
    policyType: 'TargetTrackingScaling',
    scalingTargetId: target.ref,
    targetTrackingScalingPolicyConfiguration: {
      targetValue: perTask,
      scaleOutCooldown: 60,
      scaleInCooldown: 300,
      customizedMetricSpecification: {
        metrics: [
          { id: 'waiting', returnData: false, metricStat: { stat: 'Average', metric: queueMetric(queue) } },
          { id: 'tasks', returnData: false, metricStat: { stat: 'Average', metric: runningTasks(service) } },
          {
            id: 'backlog',
            label: 'Waiting messages for each task',
            expression: 'waiting / tasks',
            returnData: true,
          },
        ],
      },
    },
  });
}

function queueMetric(queue: sqs.Queue): scaling.CfnScalingPolicy.TargetTrackingMetricProperty {
  return {
    namespace: 'AWS/SQS',
    metricName: 'ApproximateNumberOfMessagesVisible',
    dimensions: [{ name: 'QueueName', value: queue.queueName }],
  };
}

function runningTasks(service: ecs.FargateService): scaling.CfnScalingPolicy.TargetTrackingMetricProperty {
  return {
    namespace: 'ECS/ContainerInsights',
    metricName: 'RunningTaskCount',
    dimensions: [
      { name: 'ClusterName', value: service.cluster.clusterName },
      { name: 'ServiceName', value: service.serviceName },
    ],
  };
}
