import { expect, test } from '@jest/globals';
import { deployment, readable } from './support/deployments.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const production = deployment('production');

/** The permissions of a service's own role, one `action resource` per line. */
function allowed(service: string, stack: 'services' | 'migration' = 'services'): string[] {
  const policies = Object.values(production.resources(stack, 'AWS::IAM::Policy')).filter(({ Properties }) => {
    const [role] = Properties['Roles'] as { Ref: string }[];
    return role?.Ref.startsWith(`Task${service}TaskTaskRole`);
  });
  return policies
    .flatMap(({ Properties }) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement)
    .flatMap(({ Effect, Action, Resource }) => {
      expect(Effect).toBe('Allow');
      const resources = (Array.isArray(Resource) ? Resource : [Resource]) as unknown[];
      return [Action]
        .flat()
        .flatMap((action) => resources.map((resource) => `${action} ${readable(resource)}`));
    })
    .toSorted();
}

test('the api reads content and sends messages, and can neither write nor delete objects', () => {
  expect(allowed('api')).toEqual([
    's3:GetObject bucket/jobs/*',
    's3:GetObject bucket/pastes/*',
    's3:ListBucket bucket',
    'sqs:GetQueueAttributes jobs',
    'sqs:GetQueueAttributes uploads',
    'sqs:GetQueueUrl jobs',
    'sqs:GetQueueUrl uploads',
    'sqs:SendMessage jobs',
    'sqs:SendMessage uploads',
  ]);
});

test('the upload-worker writes and reads two prefixes, consumes both queues, and deletes only exports', () => {
  expect(allowed('uploadworker')).toEqual([
    's3:AbortMultipartUpload bucket/jobs/*',
    's3:DeleteObject bucket/jobs/*',
    's3:GetObject bucket/jobs/*',
    's3:GetObject bucket/pasteflow-owner',
    's3:GetObject bucket/pastes/*',
    's3:ListBucket bucket',
    's3:ListBucketMultipartUploads bucket',
    's3:PutObject bucket/jobs/*',
    's3:PutObject bucket/pasteflow-owner',
    's3:PutObject bucket/pastes/*',
    'sqs:ChangeMessageVisibility jobs',
    'sqs:ChangeMessageVisibility uploads',
    'sqs:DeleteMessage jobs',
    'sqs:DeleteMessage uploads',
    'sqs:GetQueueAttributes jobs',
    'sqs:GetQueueAttributes uploads',
    'sqs:GetQueueUrl jobs',
    'sqs:GetQueueUrl jobs-dead-letters',
    'sqs:GetQueueUrl uploads',
    'sqs:GetQueueUrl uploads-dead-letters',
    'sqs:ReceiveMessage jobs',
    'sqs:ReceiveMessage uploads',
    'sqs:SendMessage jobs-dead-letters',
    'sqs:SendMessage uploads',
    'sqs:SendMessage uploads-dead-letters',
  ]);
});

test('the janitor lists and deletes objects, reads content and the owner, sends messages, empties the dead-letter queues and opens a tunnel', () => {
  expect(allowed('janitor')).toEqual([
    's3:AbortMultipartUpload bucket/jobs/*',
    's3:DeleteObject bucket/jobs/*',
    's3:DeleteObject bucket/pastes/*',
    's3:GetBucketObjectLockConfiguration bucket',
    's3:GetBucketVersioning bucket',
    's3:GetLifecycleConfiguration bucket',
    's3:GetObject bucket/pasteflow-owner',
    's3:GetObject bucket/pastes/*',
    's3:ListBucket bucket',
    's3:ListBucketMultipartUploads bucket',
    's3:PutObject bucket/pasteflow-owner',
    'sqs:ChangeMessageVisibility jobs-dead-letters',
    'sqs:ChangeMessageVisibility uploads-dead-letters',
    'sqs:DeleteMessage jobs-dead-letters',
    'sqs:DeleteMessage uploads-dead-letters',
    'sqs:GetQueueAttributes jobs',
    'sqs:GetQueueAttributes jobs-dead-letters',
    'sqs:GetQueueAttributes uploads',
    'sqs:GetQueueAttributes uploads-dead-letters',
    'sqs:GetQueueUrl jobs',
    'sqs:GetQueueUrl jobs-dead-letters',
    'sqs:GetQueueUrl uploads',
    'sqs:GetQueueUrl uploads-dead-letters',
    'sqs:ReceiveMessage jobs-dead-letters',
    'sqs:ReceiveMessage uploads-dead-letters',
    'sqs:SendMessage jobs',
    'sqs:SendMessage uploads',
    'ssmmessages:CreateControlChannel *',
    'ssmmessages:CreateDataChannel *',
    'ssmmessages:OpenControlChannel *',
    'ssmmessages:OpenDataChannel *',
  ]);
});

test('the migration has no permissions in AWS', () => {
  expect(production.resources('migration', 'AWS::IAM::Policy')).toEqual({
    [Object.keys(production.resources('migration', 'AWS::IAM::Policy'))[0] ?? '']: expect.objectContaining({
      Properties: expect.objectContaining({ Roles: [{ Ref: expect.stringContaining('ExecutionRole') }] }),
    }),
  });
});

test('only the execution role of a service can read the credentials of the database', () => {
  for (const { Properties } of Object.values(production.resources('services', 'AWS::IAM::Policy'))) {
    const text = JSON.stringify(Properties['PolicyDocument']);
    const [role] = Properties['Roles'] as { Ref: string }[];
    expect(text.includes('secretsmanager:GetSecretValue')).toBe(role?.Ref.includes('ExecutionRole'));
  }
});
