import { CfnOutput, Duration } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { OperationsConfiguration } from './configuration.ts';
import { METRICS_PORTS, type MonitoredService } from './monitoring.ts';
import { OPERATIONS_PORT } from './operations-page.ts';

export interface InternalEntranceProps {
  readonly operations: Extract<OperationsConfiguration, { readonly via: 'balancer' }>;
  readonly vpc: ec2.IVpc;
  readonly accessLogs: s3.IBucket;
  readonly janitor: MonitoredService;
}

/**
 * The load balancer of the operations page. It has no public address, and admits only the networks of the
 * operators.
 */
export class InternalEntrance extends Construct {
  constructor(scope: Construct, id: string, { operations, vpc, accessLogs, janitor }: InternalEntranceProps) {
    super(scope, id);
    const group = new ec2.SecurityGroup(this, 'Group', {
      vpc,
      description: 'The load balancer of the operations page',
      allowAllOutbound: false,
    });
    for (const network of operations.clients)
      group.addIngressRule(ec2.Peer.ipv4(network), ec2.Port.tcp(443), 'Operators');
    const balancer = new elb.ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      securityGroup: group,
      dropInvalidHeaderFields: true,
    });
    balancer.logAccessLogs(accessLogs, 'operations');
    const listener = balancer.addListener('Https', {
      port: 443,
      protocol: elb.ApplicationProtocol.HTTPS,
      open: false, // only the networks above
      sslPolicy: elb.SslPolicy.RECOMMENDED_TLS,
      certificates: [elb.ListenerCertificate.fromArn(operations.certificateArn)],
    });
    listener.addTargets('Janitors', {
      port: OPERATIONS_PORT,
      protocol: elb.ApplicationProtocol.HTTP,
      targets: [
        janitor.service.loadBalancerTarget({ containerName: 'janitor', containerPort: OPERATIONS_PORT }),
      ],
      deregistrationDelay: Duration.seconds(10),
      // Each janitor counts the charts of the last hour from its own start: an operator stays with one of
      // them.
      stickinessCookieDuration: Duration.hours(8),
      // The page asks for a password.
      healthCheck: { path: '/healthz', port: String(METRICS_PORTS.janitor) },
    });
    janitor.group.connections.allowFrom(group, ec2.Port.tcp(METRICS_PORTS.janitor), 'Health checks');
    new CfnOutput(this, 'OperationsAddress', { value: balancer.loadBalancerDnsName });
  }
}
