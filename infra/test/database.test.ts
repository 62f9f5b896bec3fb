import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { connectionsAllowed, maxConnections, stages } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { deployment, serviceContainers } from './support/deployments.ts';

const production = deployment('production');

describe('the database', () => {
  const data = production.template('data');

  test('is in two zones, encrypted with its own key, backed up, not public, and protected from deletion', () => {
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

  test('accepts only TLS', () => {
    data.hasResourceProperties('AWS::RDS::DBParameterGroup', { Parameters: { 'rds.force_ssl': '1' } });
  });

  test('keeps the content of pastes out of its own log', () => {
    data.hasResourceProperties('AWS::RDS::DBParameterGroup', {
      Parameters: {
        log_parameter_max_length: '0',
        log_parameter_max_length_on_error: '0',
        log_error_verbosity: 'terse',
      },
    });
  });

  test('is reachable only from the security group of its clients', () => {
    const rules = Object.values(production.resources('data', 'AWS::EC2::SecurityGroupIngress'));
    expect(rules.map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        FromPort: 5432,
        ToPort: 5432,
        SourceSecurityGroupId: { 'Fn::GetAtt': [expect.stringMatching(/^DatabaseClients/), 'GroupId'] },
      }),
    ]);
  });

  test.each(stages)('has connections for every task of %s at full scale during a deployment', (stage) => {
    expect(maxConnections(configurations[stage])).toBeLessThanOrEqual(
      0.9 * connectionsAllowed(configurations[stage]),
    );
  });
});

test('the maximum number of connections is twice what the services open: pools, jobs and locks', async () => {
  const { readFileSync } = await import('node:fs');
  const source = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const jobs = source('services/upload-worker/src/jobs/compose-jobs.ts');
  const perJob = Number(/CONNECTIONS_A_JOB = (\d+)/.exec(jobs)?.[1]);
  const concurrency = Number(/^# JOB_CONCURRENCY=(\d+)$/m.exec(source('.env.example'))?.[1]);
  const few = { ...configurations.production, poolSize: 3 };
  const sum = (api: number, worker: number, jobsAtATime: number) =>
    2 * (api * 3 + worker * (3 + jobsAtATime * perJob) + 2 * (3 + 1)) + 20;
  expect(maxConnections(few)).toBe(sum(few.api.max, few.uploadWorker.max, concurrency));
  const environment = { ...few.environment, 'upload-worker': { JOB_CONCURRENCY: '8' } };
  expect(maxConnections({ ...few, environment })).toBe(sum(few.api.max, few.uploadWorker.max, 8));
});

describe('a restored database', () => {
  const host = 'pasteflow-production-restored.abc.eu-central-1.rds.amazonaws.com';
  const restored = deployment('production', { database: { ...configurations.production.database, host } });

  test('is used by every task, and watched by the alarms', () => {
    for (const stack of ['migration', 'services'] as const)
      for (const container of serviceContainers(restored, stack))
        expect(container.Environment).toContainEqual({ Name: 'PGHOST', Value: host });
    const alarms = Object.values(restored.resources('services', 'AWS::CloudWatch::Alarm'));
    expect(
      alarms
        .filter(({ Properties }) => Properties['Namespace'] === 'AWS/RDS')
        .map(({ Properties }) => Properties['Dimensions']),
    ).toEqual(
      Array.from({ length: 4 }, () => [
        { Name: 'DBInstanceIdentifier', Value: 'pasteflow-production-restored' },
      ]),
    );
  });

  test('leaves the data stack unchanged, because an export that other stacks import can’t be removed', () => {
    for (const { app } of [production, restored]) app.synth();
    expect(restored.template('data').toJSON()).toEqual(production.template('data').toJSON());
    expect(Object.keys(production.template('data').findOutputs('*'))).toEqual(
      expect.arrayContaining(['DatabaseSubnetGroup', 'DatabaseSecurityGroup', 'DatabaseParameters']),
    );
  });
});
