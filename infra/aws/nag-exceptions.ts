import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { readResources } from '../resources.ts';
import type { Configuration } from './configuration.ts';

/** One finding of cdk-nag that may be so: the end of its construct's path, its rule, and why. */
export interface NagException {
  readonly path: string;
  readonly rule: string;
  readonly reason: string;
}

/** What CloudFormation calls the bucket's ARN in another stack; a finding's id is made of it. */
const BUCKET_ARN = 'ExportsOutputFnGetAttContent88381566Arn726CED76';

export function nagExceptions({ stage, protect, database }: Configuration): readonly NagException[] {
  const { prefixes } = readResources().bucket;
  const data = `pasteflow-${stage}-data`;
  const services = `pasteflow-${stage}-services`;
  const tasks = [
    `pasteflow-${stage}-migration/Migrate`,
    ...['api', 'upload-worker', 'janitor'].map((name) => `${services}/Task-${name}`),
  ];
  return [
    {
      path: `${data}/Postgres/Resource`,
      rule: 'RDS11',
      reason:
        'Another port hides nothing from who is in the VPC: the security group lets in the services alone.',
    },
    {
      path: `${data}/Postgres/Secret/Resource`,
      rule: 'SMG4',
      reason:
        'Tasks read the password when they start: rotated behind their back it would lock them out. docs/deploy.md has the way.',
    },
    {
      path: `${services}/Entrance/Balancer/SecurityGroup/Resource`,
      rule: 'EC23',
      reason: 'The public entrance of a public service, on its listening ports alone.',
    },
    ...tasks.flatMap((path) => [
      {
        path: `${path}/Task/Resource`,
        rule: 'ECS2',
        reason:
          'Names and addresses, no secrets, and a change of them should be a deployment. User and password come from Secrets Manager.',
      },
      {
        path: `${path}/Task/ExecutionRole/DefaultPolicy/Resource`,
        rule: 'IAM5[Resource::*]',
        reason:
          'ecr:GetAuthorizationToken knows no resource; the rest of the policy names its repository, secret and log group.',
      },
    ]),
    ...['api', 'upload-worker', 'janitor'].flatMap((name) =>
      Object.values(prefixes).map((prefix) => ({
        path: `${services}/Task-${name}/Task/TaskRole/DefaultPolicy/Resource`,
        rule: `IAM5[Resource::${data}:${BUCKET_ARN}/${prefix}*]`,
        reason: 'Objects are many: a role is bounded by prefix and action, each of which a test names.',
      })),
    ),
    ...(protect
      ? []
      : [
          {
            path: `${data}/Postgres/Resource`,
            rule: 'RDS10',
            reason: 'This stage is made to be thrown away.',
          },
        ]),
    ...(database.multiAz
      ? []
      : [
          {
            path: `${data}/Postgres/Resource`,
            rule: 'RDS3',
            reason: 'This stage may be down for as long as a restore takes.',
          },
        ]),
  ];
}

/** cdk-nag wants each finding acknowledged at the construct that has it. @returns those exceptions that have no construct */
export function acknowledge(root: IConstruct, exceptions: readonly NagException[]): readonly NagException[] {
  const constructs = root.node.findAll();
  return exceptions.filter(({ path, rule, reason }) => {
    const construct = constructs.find((each) => each.node.path === path);
    if (construct === undefined) return true;
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    return false;
  });
}
