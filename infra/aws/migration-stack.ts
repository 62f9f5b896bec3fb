import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import type { Configuration, ServiceName } from './configuration.ts';
import type { DataStack } from './data-stack.ts';
import type { FoundationStack } from './foundation-stack.ts';
import { ServiceTask } from './service-task.ts';

export interface MigrationStackProps extends StackProps {
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
export class MigrationStack extends Stack {
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
