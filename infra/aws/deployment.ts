import { type App, Tags } from 'aws-cdk-lib';
import type { Configuration } from './configuration.ts';
import { DataStack } from './data-stack.ts';
import { FoundationStack } from './foundation-stack.ts';
import { MigrationStack } from './migration-stack.ts';
import { ServicesStack } from './services-stack.ts';

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
