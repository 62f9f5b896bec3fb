import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { readResources } from '../resources.ts';
import type { Configuration } from './configuration.ts';

/** A finding of cdk-nag that is accepted: the end of its construct's path, its rule, and the reason. */
export interface NagException {
  readonly path: string;
  readonly rule: string;
  readonly reason: string;
}

/** The name of the bucket's ARN in another stack. It is part of a finding's id. */
const BUCKET_ARN = 'ExportsOutputFnGetAttContent88381566Arn726CED76';

export function nagExceptions({
  stage,
  protect,
  database,
  operations,
}: Configuration): readonly NagException[] {
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
        'Another port hides nothing from a client in the VPC. The security group admits only the services.',
    },
    {
      path: `${data}/Postgres/Secret/Resource`,
      rule: 'SMG4',
      reason:
        'Tasks read the password when they start. A rotation without a new deployment would lock them out; see docs/deploy.md.',
    },
    ...['pasteflow_api', 'pasteflow_worker', 'pasteflow_janitor'].map((role) => ({
      path: `${data}/Credentials-${role}/Resource`,
      rule: 'SMG4',
      reason:
        'The migration sets the password, and tasks read it when they start. A rotation without both would lock them out; see docs/deploy.md.',
    })),
    ...(operations === null ? [] : ['Token', 'ReadToken']).map((token) => ({
      path: `${services}/Operations/${token}/Resource`,
      rule: 'SMG4',
      reason:
        'Janitors read the token when they start, and people know it. A rotation without a new deployment would change nothing.',
    })),
    ...(operations?.via === 'tunnel'
      ? [
          {
            path: `${services}/Task-janitor/Task/TaskRole/DefaultPolicy/Resource`,
            rule: 'IAM5[Resource::*]',
            reason: 'The actions of ssmmessages, with which a tunnel is opened, have no resources.',
          },
        ]
      : []),
    {
      path: `${services}/Entrance/Balancer/SecurityGroup/Resource`,
      rule: 'EC23',
      reason: 'The public entrance of a public service, open only on its listening ports.',
    },
    ...tasks.flatMap((path) => [
      {
        path: `${path}/Task/Resource`,
        rule: 'ECS2',
        reason:
          'The variables are names and addresses, not secrets, and a change of them should be a deployment. User and password come from Secrets Manager.',
      },
      {
        path: `${path}/Task/ExecutionRole/DefaultPolicy/Resource`,
        rule: 'IAM5[Resource::*]',
        reason:
          'ecr:GetAuthorizationToken has no resource. The rest of the policy names its repository, secret and log group.',
      },
    ]),
    ...['api', 'upload-worker', 'janitor'].flatMap((name) =>
      Object.values(prefixes).map((prefix) => ({
        path: `${services}/Task-${name}/Task/TaskRole/DefaultPolicy/Resource`,
        rule: `IAM5[Resource::${data}:${BUCKET_ARN}/${prefix}*]`,
        reason:
          'There are many objects. A role is limited by prefix and action, and a test names each of them.',
      })),
    ),
    ...(protect
      ? []
      : [
          {
            path: `${data}/Postgres/Resource`,
            rule: 'RDS10',
            reason: 'This stage is disposable.',
          },
        ]),
    ...(database.multiAz
      ? []
      : [
          {
            path: `${data}/Postgres/Resource`,
            rule: 'RDS3',
            reason: 'This stage may be unavailable while a restore runs.',
          },
        ]),
  ];
}

/**
 * Acknowledges each finding at its construct, as cdk-nag requires.
 * @returns the exceptions that match no construct
 */
export function acknowledge(root: IConstruct, exceptions: readonly NagException[]): readonly NagException[] {
  const constructs = root.node.findAll();
  return exceptions.filter(({ path, rule, reason }) => {
    const construct = constructs.find((each) => each.node.path === path);
    if (construct === undefined) return true;
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    return false;
  });
}
