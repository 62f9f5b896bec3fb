import { Duration } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Configuration } from './configuration.ts';

/**
 * Below the 80 s for which the api keeps an idle connection: the load balancer closes first, and never sends
 * a request into a connection that the api is closing. Above the 60 s that an answer may take (`Prefer:
 * wait`). Event streams send a byte every 15 s.
 */
export const IDLE_SECONDS = 75;

export interface PublicEntranceProps {
  readonly configuration: Configuration;
  readonly vpc: ec2.IVpc;
  readonly accessLogs: s3.IBucket;
}

/** The load balancer in front of the api. With a domain it serves HTTPS, and port 80 only redirects. */
export class PublicEntrance extends Construct {
  readonly balancer: elb.ApplicationLoadBalancer;
  readonly #listener: elb.ApplicationListener;

  constructor(scope: Construct, id: string, { configuration, vpc, accessLogs }: PublicEntranceProps) {
    super(scope, id);
    const { domain } = configuration;
    this.balancer = new elb.ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: true,
      idleTimeout: Duration.seconds(IDLE_SECONDS),
      dropInvalidHeaderFields: true,
      // No deletion protection here: a first deployment that fails could not be rolled back. The stack's
      // termination protection prevents a deletion by mistake.
      xffHeaderProcessingMode: elb.XffHeaderProcessingMode.APPEND,
    });
    this.balancer.logAccessLogs(accessLogs, 'balancer');
    this.#listener =
      domain === null
        ? this.balancer.addListener('Http', { port: 80, protocol: elb.ApplicationProtocol.HTTP })
        : this.#listenWithTls(domain.certificateArn);
  }

  #listenWithTls(certificateArn: string): elb.ApplicationListener {
    this.balancer.addListener('Redirect', {
      port: 80,
      protocol: elb.ApplicationProtocol.HTTP,
      defaultAction: elb.ListenerAction.redirect({ protocol: 'HTTPS', port: '443', permanent: true }),
    });
    return this.balancer.addListener('Https', {
      port: 443,
      protocol: elb.ApplicationProtocol.HTTPS,
      sslPolicy: elb.SslPolicy.RECOMMENDED_TLS,
      certificates: [elb.ListenerCertificate.fromArn(certificateArn)],
    });
  }

  leadTo(service: ecs.FargateService, port: number): elb.ApplicationTargetGroup {
    return this.#listener.addTargets('Api', {
      port,
      protocol: elb.ApplicationProtocol.HTTP,
      targets: [service],
      // ECS deregisters a task before it stops the task. The api then finishes its requests within 8 s and
      // exits within 10 s.
      deregistrationDelay: Duration.seconds(10),
      loadBalancingAlgorithmType: elb.TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
      // Not /readyz, which queries Postgres: during a failover of RDS, ECS would replace all tasks, and no
      // new task would become ready.
      healthCheck: {
        path: '/healthz',
        interval: Duration.seconds(10),
        timeout: Duration.seconds(5),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 2,
      },
    });
  }
}
