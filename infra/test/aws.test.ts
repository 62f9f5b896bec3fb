import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { connectionsAllowed, mostConnections, stages } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { IDLE_SECONDS } from '../aws/public-entrance.ts';
import { readResources } from '../resources.ts';
import { deployment } from './support/deployments.ts';

const production = deployment('production');

describe('the database', () => {
  const data = production.template('data');

  test('is in two zones, encrypted with a key of its own, backed up, hidden, and can’t be deleted by mistake', () => {
    data.hasResource('AWS::RDS::DBInstance', {
      DeletionPolicy: 'Snapshot',
      Properties: {
        MultiAZ: true,
        StorageEncrypted: true,
        KmsKeyId: Match.anyValue(),
        BackupRetentionPeriod: 14,
        PubliclyAccessible: false,
        DeletionProtection: true,
        EngineVersion: '18',
      },
    });
  });

  test('speaks TLS alone', () => {
    data.hasResourceProperties('AWS::RDS::DBParameterGroup', { Parameters: { 'rds.force_ssl': '1' } });
  });

  test('lets in the security group of its clients and nobody else', () => {
    const rules = Object.values(production.resources('data', 'AWS::EC2::SecurityGroupIngress'));
    expect(rules.map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        FromPort: 5432,
        ToPort: 5432,
        SourceSecurityGroupId: { 'Fn::GetAtt': [expect.stringMatching(/^DatabaseClients/), 'GroupId'] },
      }),
    ]);
  });

  test.each(stages)(
    'has connections for every task of %s at full scale, in the middle of a deployment',
    (stage) => {
      expect(mostConnections(configurations[stage])).toBeLessThanOrEqual(
        0.9 * connectionsAllowed(configurations[stage]),
      );
    },
  );
});

describe('the bucket', () => {
  const data = production.template('data');

  test('is encrypted, closed to the public, without versions, and aborts stray multipart uploads', () => {
    data.hasResourceProperties('AWS::S3::Bucket', {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      VersioningConfiguration: Match.absent(),
      LifecycleConfiguration: {
        Rules: [
          {
            AbortIncompleteMultipartUpload: {
              DaysAfterInitiation: readResources().bucket.abortMultipartUploadsAfterDays,
            },
            ExpirationInDays: Match.absent(),
            Status: 'Enabled',
          },
        ],
      },
      LoggingConfiguration: Match.anyValue(),
    });
  });

  test('stays when its stack goes', () => {
    for (const { DeletionPolicy } of Object.values(production.resources('data', 'AWS::S3::Bucket')))
      expect(DeletionPolicy).toBe('Retain');
  });

  test('and the queues refuse what comes without TLS', () => {
    const policies = [
      ...Object.values(production.resources('data', 'AWS::S3::BucketPolicy')),
      ...Object.values(production.resources('data', 'AWS::SQS::QueuePolicy')),
    ];
    expect(policies).toHaveLength(6);
    for (const { Properties } of policies)
      expect(JSON.stringify(Properties)).toContain(
        '"Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"',
      );
  });
});

describe('the services', () => {
  const services = production.template('services');

  test('are three on Fargate, each behind a circuit breaker and never below its full number', () => {
    const all = Object.values(production.resources('services', 'AWS::ECS::Service')).map(
      ({ Properties }) => Properties,
    );
    expect(all.map(({ ServiceName }) => String(ServiceName)).toSorted()).toEqual([
      'api',
      'janitor',
      'upload-worker',
    ]);
    for (const properties of all)
      expect(properties).toMatchObject({
        LaunchType: 'FARGATE',
        DeploymentConfiguration: {
          DeploymentCircuitBreaker: { Enable: true, Rollback: true },
          MinimumHealthyPercent: 100,
        },
        NetworkConfiguration: { AwsvpcConfiguration: { AssignPublicIp: 'DISABLED' } },
      });
  });

  test('run without root, on a file system that can’t be written to, with 30 s to stop in', () => {
    for (const stack of ['services', 'migration'] as const)
      for (const { Properties } of Object.values(production.resources(stack, 'AWS::ECS::TaskDefinition')))
        expect(Properties['ContainerDefinitions']).toEqual([
          expect.objectContaining({ ReadonlyRootFilesystem: true, User: '65532', StopTimeout: 30 }),
        ]);
  });

  test('get user and password from Secrets Manager, and no secret by the environment', () => {
    for (const { Properties } of Object.values(
      production.resources('services', 'AWS::ECS::TaskDefinition'),
    )) {
      const [container] = Properties['ContainerDefinitions'] as {
        Secrets: { Name: string }[];
        Environment: { Name: string; Value: unknown }[];
      }[];
      expect(container?.Secrets.map(({ Name }) => Name)).toEqual(['PGUSER', 'PGPASSWORD']);
      expect(container?.Environment).toContainEqual({
        Name: 'DATABASE_URL',
        Value: 'postgres:///pasteflow?sslmode=verify-full',
      });
      expect(JSON.stringify(container?.Environment)).not.toMatch(/password|secret/i);
    }
  });

  test('the janitor is two, and not scaled', () => {
    services.hasResourceProperties('AWS::ECS::Service', { ServiceName: 'janitor', DesiredCount: 2 });
    services.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 2);
  });

  test('the api is scaled on requests for each task', () => {
    services.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
      TargetTrackingScalingPolicyConfiguration: {
        PredefinedMetricSpecification: { PredefinedMetricType: 'ALBRequestCountPerTarget' },
        TargetValue: configurations.production.api.requestsPerTask,
      },
    });
  });

  test('the upload-worker is scaled on the backlog of each task, and on the age of the oldest message', () => {
    services.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
      TargetTrackingScalingPolicyConfiguration: {
        TargetValue: configurations.production.uploadWorker.backlogPerTask,
        CustomizedMetricSpecification: {
          Metrics: Match.arrayWith([Match.objectLike({ Expression: 'waiting / tasks', ReturnData: true })]),
        },
      },
    });
    services.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
      PolicyType: 'StepScaling',
      StepScalingPolicyConfiguration: { AdjustmentType: 'ChangeInCapacity' },
    });
    services.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateAgeOfOldestMessage',
      Threshold: 60,
    });
  });
});

describe('the load balancer', () => {
  test('lets go of an idle connection before the api does', async () => {
    const source = '../../services/api/src/http/api-server.ts';
    const { readFileSync } = await import('node:fs');
    const text = readFileSync(new URL(source, import.meta.url), 'utf8');
    const keepAliveMs = Number(/KEEP_ALIVE_MS = ([\d_]+)/.exec(text)?.[1]?.replaceAll('_', ''));
    expect(keepAliveMs).toBeGreaterThan(IDLE_SECONDS * 1000);
    production.template('services').hasResourceProperties('AWS::ElasticLoadBalancingV2::LoadBalancer', {
      LoadBalancerAttributes: Match.arrayWith([
        { Key: 'idle_timeout.timeout_seconds', Value: String(IDLE_SECONDS) },
      ]),
    });
  });

  test.each(['staging', 'production'] as const)(
    'of %s speaks HTTPS, and its port 80 only redirects',
    (stage) => {
      const listeners = Object.values(
        deployment(stage).resources('services', 'AWS::ElasticLoadBalancingV2::Listener'),
      );
      const byPort = Object.fromEntries(listeners.map(({ Properties }) => [Properties['Port'], Properties]));
      expect(byPort[80]).toMatchObject({
        DefaultActions: [{ Type: 'redirect', RedirectConfig: { Protocol: 'HTTPS' } }],
      });
      expect(byPort[443]).toMatchObject({ Protocol: 'HTTPS', SslPolicy: expect.stringContaining('TLS13') });
    },
  );
});

test('every alarm says what it means and goes to the topic, when it comes and when it goes', () => {
  const alarms = Object.values(production.resources('services', 'AWS::CloudWatch::Alarm')).filter(
    ({ Properties }) =>
      !JSON.stringify(Properties['AlarmActions']).includes('UploadWorker') &&
      Properties['AlarmDescription'] !== undefined,
  );
  const ours = alarms.filter(({ Properties }) => Properties['OKActions'] !== undefined);
  expect(ours.length).toBeGreaterThanOrEqual(14);
  for (const { Properties } of ours) {
    expect(Properties['AlarmActions']).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }]);
    expect(Properties['AlarmDescription']).toMatch(/\.$/);
  }
});
