import { CfnOutput, Duration } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elb from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { OperationsConfiguration } from './configuration.ts';
import { METRICS_PORTS, type MonitoredService } from './monitoring.ts';

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

/**
 * `OPS_PORT`. The same on the operator's machine at the end of a tunnel: the page refuses requests for
 * another port.
 */
export const OPERATIONS_PORT = 9467;

/**
 * Letters and digits: a browser sends the token as a password, and an operator copies it. 40 of them have 238
 * bits.
 */
const TOKEN_CHARACTERS = 40;

/** The passwords of the operations page, and the settings of the janitors that serve it. */
export class OperationsPage extends Construct {
  readonly secrets: Readonly<Record<string, ecs.Secret>>;
  readonly environment: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, operations: OperationsConfiguration) {
    super(scope, id);
    this.secrets = {
      OPS_TOKEN: this.#makeToken('Token', 'reads and acts'),
      OPS_READ_TOKEN: this.#makeToken('ReadToken', 'reads'),
      ...(operations.via === 'balancer' &&
        operations.oidcClientSecretArn !== undefined && {
          OPS_OIDC_CLIENT_SECRET: ecs.Secret.fromSecretsManager(
            Secret.fromSecretCompleteArn(this, 'OidcClientSecret', operations.oidcClientSecretArn),
          ),
        }),
    };
    this.environment = {
      OPS_PORT: String(OPERATIONS_PORT),
      // Through a tunnel the page needs no other address than loopback, which nothing in the VPC reaches.
      ...(operations.via === 'balancer' && { OPS_HOST: '0.0.0.0', OPS_URL: operations.url }),
    };
  }

  /**
   * Secrets Manager makes the text. Its name is made by CloudFormation, so that a failed deployment leaves no
   * name behind.
   */
  #makeToken(id: string, who: string): ecs.Secret {
    const secret = new Secret(this, id, {
      description: `The password of the operations page for who ${who}`,
      generateSecretString: { passwordLength: TOKEN_CHARACTERS, excludePunctuation: true },
    });
    new CfnOutput(this, `${id}Arn`, { value: secret.secretArn });
    return ecs.Secret.fromSecretsManager(secret);
  }
}
