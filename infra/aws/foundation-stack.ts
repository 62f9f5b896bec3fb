import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecr from 'aws-cdk-lib/aws-ecr';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type Configuration, removalPolicy } from './configuration.ts';

/** The targets of the Dockerfile. Each has its own repository. */
export const images = ['api', 'upload-worker', 'janitor', 'migrate'] as const;
export type ImageName = (typeof images)[number];

/** What must exist before images can be pushed and tasks can run: network, repositories, cluster. */
export class FoundationStack extends Stack {
  readonly vpc: ec2.Vpc;
  readonly cluster: ecs.Cluster;
  readonly repositories: Readonly<Record<ImageName, ecr.Repository>>;

  constructor(
    scope: Construct,
    id: string,
    { configuration, ...props }: StackProps & { configuration: Configuration },
  ) {
    super(scope, id, props);
    const { stage, availabilityZones, natGateways, logDays } = configuration;
    this.vpc = new ec2.Vpc(this, 'Vpc', {
      availabilityZones: [...availabilityZones],
      natGateways,
      restrictDefaultSecurityGroup: false, // this would need a custom resource, and no resource uses that group
      subnetConfiguration: [
        { name: 'public', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false },
        // For the key set of an OIDC issuer, and for ECR. Most traffic goes to S3, which has a gateway
        // endpoint.
        { name: 'services', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 20 },
        { name: 'database', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
      ],
      gatewayEndpoints: { s3: { service: ec2.GatewayVpcEndpointAwsService.S3 } },
    });
    this.vpc.addFlowLog('FlowLog', {
      destination: ec2.FlowLogDestination.toCloudWatchLogs(
        new logs.LogGroup(this, 'FlowLogs', { retention: logDays, removalPolicy: RemovalPolicy.DESTROY }),
      ),
      trafficType: ec2.FlowLogTrafficType.REJECT, // accepted traffic is in the load balancer's log, at a tenth of the price
    });
    this.cluster = new ecs.Cluster(this, 'Cluster', {
      vpc: this.vpc,
      clusterName: `pasteflow-${stage}`,
      // A tunnel to the operations page runs no command. Without logs of commands, the task needs no right to
      // write them.
      executeCommandConfiguration: { logging: ecs.ExecuteCommandLogging.NONE },
      containerInsightsV2: ecs.ContainerInsights.ENABLED, // scaling divides the backlog by its count of running tasks
    });
    this.repositories = Object.fromEntries(
      images.map((name) => [name, this.#repository(name, configuration)]),
    ) as Record<ImageName, ecr.Repository>;
  }

  #repository(name: ImageName, configuration: Configuration): ecr.Repository {
    const { stage, protect } = configuration;
    return new ecr.Repository(this, `Repository-${name}`, {
      repositoryName: `pasteflow-${stage}/${name}`,
      imageScanOnPush: true,
      imageTagMutability: ecr.TagMutability.IMMUTABLE, // so that a rollback gets exactly the image of its tag
      lifecycleRules: [{ maxImageCount: 50 }],
      removalPolicy: removalPolicy(configuration),
      emptyOnDelete: !protect,
    });
  }
}
