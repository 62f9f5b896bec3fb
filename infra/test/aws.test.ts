import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { configurations } from '../aws/configurations.ts';
import { IDLE_SECONDS } from '../aws/public-entrance.ts';
import { readResources } from '../resources.ts';
import { containers, deployment } from './support/deployments.ts';

const production = deployment('production');

describe('the bucket', () => {
  const data = production.template('data');

  test('is encrypted and not public, keeps old versions for a week, and aborts abandoned multipart uploads', () => {
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
      VersioningConfiguration: { Status: 'Enabled' },
      LifecycleConfiguration: {
        Rules: [
          {
            AbortIncompleteMultipartUpload: {
              DaysAfterInitiation: readResources().bucket.abortMultipartUploadsAfterDays,
            },
            ExpirationInDays: Match.absent(),
            Status: 'Enabled',
          },
          {
            NoncurrentVersionExpiration: {
              NoncurrentDays: readResources().bucket.expireOldVersionsAfterDays,
            },
            ExpiredObjectDeleteMarker: true,
            ExpirationInDays: Match.absent(),
            Status: 'Enabled',
          },
        ],
      },
      LoggingConfiguration: Match.anyValue(),
    });
  });

  test('stays when its stack is deleted', () => {
    for (const { DeletionPolicy } of Object.values(production.resources('data', 'AWS::S3::Bucket')))
      expect(DeletionPolicy).toBe('RetainExceptOnCreate');
  });

  test('and the queues refuse requests without TLS', () => {
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
  const serviceContainers = containers(production, 'services').filter(({ Name }) => Name !== 'tunnel');

  test('are three on Fargate, each with a circuit breaker and at least all of its tasks during a deployment', () => {
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

  test('run without root, on a read-only file system, with 30 s to stop', () => {
    for (const stack of ['services', 'migration'] as const)
      for (const { Properties } of Object.values(production.resources(stack, 'AWS::ECS::TaskDefinition'))) {
        const [service, ...others] = Properties['ContainerDefinitions'] as { Name: string }[];
        expect(service).toMatchObject({ ReadonlyRootFilesystem: true, User: '65532', StopTimeout: 30 });
        // The agent of a tunnel writes into its container.
        const isJanitor = service?.Name === 'janitor';
        expect(others).toEqual(isJanitor ? [expect.objectContaining({ Name: 'tunnel', User: '65532' })] : []);
      }
  });

  test.each(['x86_64', 'arm64'] as const)('run on %s when the configuration says so', (architecture) => {
    const deployed = deployment('production', { architecture });
    const tasks = (['services', 'migration'] as const).flatMap((stack) =>
      Object.values(deployed.resources(stack, 'AWS::ECS::TaskDefinition')),
    );
    expect(tasks).toHaveLength(4);
    for (const { Properties } of tasks)
      expect(Properties['RuntimePlatform']).toEqual({
        CpuArchitecture: architecture.toUpperCase(),
        OperatingSystemFamily: 'LINUX',
      });
  });

  test('get user and password from Secrets Manager, and no secret from the environment', () => {
    for (const { Secrets, Environment } of serviceContainers) {
      expect(Secrets.map(({ Name }) => Name).slice(0, 2)).toEqual(['PGUSER', 'PGPASSWORD']);
      expect(Environment).toContainEqual({
        Name: 'DATABASE_URL',
        Value: 'postgres:///pasteflow?sslmode=verify-full',
      });
      expect(JSON.stringify(Environment)).not.toMatch(/password|secret|token/i);
    }
  });

  test('connect to Postgres as their own roles, and the migration as the master user, who sets the passwords', () => {
    const secretOf = ({ Secrets }: (typeof all)[number], name: string) =>
      /Credentialspasteflow[a-z]+|PostgresSecret/.exec(
        JSON.stringify(Secrets.find(({ Name }) => Name === name)),
      )?.[0];
    const all = [...serviceContainers, ...containers(production, 'migration')];
    const users = all.map((container) => [
      container.Name,
      secretOf(container, 'PGUSER'),
      secretOf(container, 'PGPASSWORD'),
    ]);
    expect(users).toEqual([
      ['api', 'Credentialspasteflowapi', 'Credentialspasteflowapi'],
      ['upload-worker', 'Credentialspasteflowworker', 'Credentialspasteflowworker'],
      ['janitor', 'Credentialspasteflowjanitor', 'Credentialspasteflowjanitor'],
      ['migrate', 'PostgresSecret', 'PostgresSecret'],
    ]);
    const [migration = all[0]] = containers(production, 'migration');
    for (const role of ['api', 'worker', 'janitor'])
      expect(secretOf(migration as (typeof all)[number], `PASTEFLOW_${role.toUpperCase()}_PASSWORD`)).toBe(
        `Credentialspasteflow${role}`,
      );
    const generated = Object.values(production.resources('data', 'AWS::SecretsManager::Secret')).map(
      ({ Properties }) => JSON.stringify(Properties['GenerateSecretString']),
    );
    for (const role of ['pasteflow_api', 'pasteflow_worker', 'pasteflow_janitor'])
      expect(generated.filter((text) => text.includes(`\\"username\\":\\"${role}\\"`))).toHaveLength(1);
  });

  test('have their entry in the command, which RunTask can replace', () => {
    for (const { Command } of serviceContainers) expect(Command).toEqual(['dist/main.js']);
    expect(containers(production, 'migration').map(({ Command }) => Command)).toEqual([
      ['dist/migrate-main.js'],
    ]);
  });

  test('run two janitors, which are not scaled', () => {
    services.hasResourceProperties('AWS::ECS::Service', { ServiceName: 'janitor', DesiredCount: 2 });
    services.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 2);
  });

  test('scale the api on requests for each task', () => {
    services.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
      TargetTrackingScalingPolicyConfiguration: {
        PredefinedMetricSpecification: { PredefinedMetricType: 'ALBRequestCountPerTarget' },
        TargetValue: configurations.production.api.requestsPerTask,
      },
    });
  });

  test.each([
    ['uploads', 'Uploads', configurations.production.uploadWorker.backlogPerTask],
    ['jobs', 'Jobs', configurations.production.uploadWorker.jobsPerTask],
  ])('scale the upload-worker on the backlog of %s of each task', (_, queue, perTask) => {
    const waiting = {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [
        {
          Name: 'QueueName',
          Value: { 'Fn::ImportValue': Match.stringLikeRegexp(`GetAtt${queue}Queue.*QueueName`) },
        },
      ],
    };
    services.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
      ScalingTargetId: { Ref: Match.stringLikeRegexp('^Serviceuploadworker') },
      TargetTrackingScalingPolicyConfiguration: {
        TargetValue: perTask,
        CustomizedMetricSpecification: {
          Metrics: Match.arrayWith([
            Match.objectLike({ Id: 'waiting', MetricStat: { Metric: waiting } }),
            Match.objectLike({ Expression: 'waiting / tasks', ReturnData: true }),
          ]),
        },
      },
    });
  });

  test('scale the upload-worker also on the age of the oldest upload', () => {
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
  test('closes an idle connection before the api does', async () => {
    const source = '../../services/api/src/http/server/api-server.ts';
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

  test('checks that a task is alive, and not its database, which a new task could not repair', async () => {
    production.template('services').hasResourceProperties('AWS::ElasticLoadBalancingV2::TargetGroup', {
      Port: 3000,
      HealthCheckPath: '/healthz',
    });
    const { readFileSync } = await import('node:fs');
    const routes = readFileSync(new URL('../../services/api/src/docs/routes.ts', import.meta.url), 'utf8');
    expect(routes).toContain("'/healthz': { GET: healthz }");
  });

  test.each(['staging', 'production'] as const)(
    'of %s serves HTTPS, and only redirects on port 80',
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

test('a first deployment that fails leaves no name that blocks the next, and only resources that can be deleted', () => {
  const named = [
    ...Object.values(production.resources('foundation', 'AWS::ECR::Repository')),
    ...(['data', 'migration', 'services'] as const).flatMap((stack) =>
      Object.values(production.resources(stack, 'AWS::Logs::LogGroup')),
    ),
  ];
  expect(named).toHaveLength(4 + 1 + 1 + 3);
  for (const { DeletionPolicy, UpdateReplacePolicy } of named)
    expect({ DeletionPolicy, UpdateReplacePolicy }).toEqual({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  const [balancer] = Object.values(
    production.resources('services', 'AWS::ElasticLoadBalancingV2::LoadBalancer'),
  );
  expect(balancer?.Properties['LoadBalancerAttributes']).not.toContainEqual({
    Key: 'deletion_protection.enabled',
    Value: 'true',
  });
});
