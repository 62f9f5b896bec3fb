import { Duration, Stack } from 'aws-cdk-lib';
import * as scaling from 'aws-cdk-lib/aws-applicationautoscaling';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Configuration } from './configuration.ts';

/** On requests a minute for each task, and on the processor, for the few requests that are long. */
export function scaleApi(
  service: ecs.FargateService,
  { least, most, requestsPerTask }: Configuration['api'],
  targetGroup: elb.ApplicationTargetGroup,
): void {
  const count = service.autoScaleTaskCount({ minCapacity: least, maxCapacity: most });
  count.scaleOnRequestCount('Requests', {
    requestsPerTarget: requestsPerTask,
    targetGroup,
    scaleInCooldown: Duration.minutes(5),
    scaleOutCooldown: Duration.minutes(1),
  });
  count.scaleOnCpuUtilization('Processor', { targetUtilizationPercent: 65 });
}

/**
 * On the backlog of each task, and on the age of the oldest message where depth says too little: few messages that nobody gets
 * round to. A message keeps its age through all of its retries (31 s and the puts), hence a minute; in an outage of S3 more workers
 * don't help, but `most` bounds them.
 */
export function scaleUploadWorker(
  service: ecs.FargateService,
  { least, most, backlogPerTask }: Configuration['uploadWorker'],
  queue: sqs.Queue,
): void {
  const count = service.autoScaleTaskCount({ minCapacity: least, maxCapacity: most });
  const target = count.node.findChild('Target').node.findChild('Resource') as scaling.CfnScalableTarget;
  new scaling.CfnScalingPolicy(Stack.of(service), 'UploadWorkerBacklog', {
    policyName: 'backlog-per-task',
    policyType: 'TargetTrackingScaling',
    scalingTargetId: target.ref,
    targetTrackingScalingPolicyConfiguration: {
      targetValue: backlogPerTask,
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
  count.scaleOnMetric('Age', {
    metric: queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(1), statistic: 'Maximum' }),
    scalingSteps: [
      { upper: 60, change: 0 },
      { lower: 60, change: +2 },
      { lower: 300, change: +6 },
    ],
    adjustmentType: scaling.AdjustmentType.CHANGE_IN_CAPACITY,
    cooldown: Duration.minutes(2),
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
