import { type App, CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import type { Configuration, ServiceName } from './configuration.ts';
import { DataStack } from './data-stack.ts';
import { FoundationStack } from './foundation-stack.ts';
import { ServicesStack } from './services-stack.ts';
import { ServiceTask } from './service-task.ts';

export interface Deployment {
  readonly foundation: FoundationStack;
  readonly data: DataStack;
  readonly migration: MigrationStack;
  readonly services: ServicesStack;
}

/**
 * Feature flags of the CDK. Without this flag, server access logs need an ACL, which the bucket doesn't
 * allow.
 */
export const featureFlags = { '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy': true };

/** The stacks of one stage, in deployment order. */
export function deploy(app: App, configuration: Configuration, imageTag: string): Deployment {
  const { stage, region, protect } = configuration;
  const id = (name: string) => `pasteflow-${stage}-${name}`;
  const shared = { configuration, env: { region }, terminationProtection: protect };
  const foundation = new FoundationStack(app, id('foundation'), shared);
  const data = new DataStack(app, id('data'), { ...shared, vpc: foundation.vpc });
  const migration = new MigrationStack(app, id('migration'), { ...shared, foundation, data, imageTag });
  const services = new ServicesStack(app, id('services'), { ...shared, foundation, data, imageTag });
  services.addStackDependency(migration);
  Tags.of(app).add('application', 'pasteflow');
  Tags.of(app).add('stage', stage);
  return { foundation, data, migration, services };
}

interface MigrationStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly foundation: FoundationStack;
  readonly data: DataStack;
  readonly imageTag: string;
}

/**
 * The task that migrates the schema. migrate-main.ts runs it before the services are deployed. The task is
 * not a custom resource of the services' stack: on a rollback, CloudFormation would run it again with the
 * older image, and an older migrator refuses a newer schema.
 */
class MigrationStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { configuration, foundation, data, imageTag, ...props }: MigrationStackProps,
  ) {
    super(scope, id, props);
    const { vpc, cluster, repositories } = foundation;
    const group = new ec2.SecurityGroup(this, 'Group', { vpc, description: 'The migration' });
    const passwordOf = (service: ServiceName) =>
      ecs.Secret.fromSecretsManager(data.serviceCredentials[service], 'password');
    const task = new ServiceTask(this, 'Migrate', {
      name: 'migrate',
      configuration,
      data,
      repository: repositories.migrate,
      imageTag,
      entry: 'dist/migrate-main.js',
      size: { cpu: 256, memoryMiB: 512 },
      permissions: [], // it speaks to Postgres alone
      credentials: data.databaseCredentials,
      secrets: {
        PASTEFLOW_API_PASSWORD: passwordOf('api'),
        PASTEFLOW_WORKER_PASSWORD: passwordOf('upload-worker'),
        PASTEFLOW_JANITOR_PASSWORD: passwordOf('janitor'),
      },
    });
    const subnets = vpc.selectSubnets({ subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS }).subnetIds;
    const outputs = {
      Cluster: cluster.clusterName,
      TaskDefinition: task.definition.taskDefinitionArn,
      Subnets: subnets.join(','),
      SecurityGroups: [group.securityGroupId, data.databaseClients.securityGroupId].join(','),
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
