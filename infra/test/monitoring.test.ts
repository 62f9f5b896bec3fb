import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { stages } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { deployment } from './support/deployments.ts';

const prometheus = new URL('../observability/prometheus/', import.meta.url);
const read = (name: string): unknown => parse(readFileSync(new URL(name, prometheus), 'utf8'));
const production = deployment('production');

function only(type: string, one = production): Readonly<Record<string, unknown>> {
  const found = Object.values(one.resources('services', type));
  expect(found).toHaveLength(1);
  return found[0]?.Properties ?? {};
}

interface RuleFile {
  readonly groups: { readonly rules: { readonly alert: string; readonly expr: string }[] }[];
}
const alertsOf = ({ groups }: RuleFile) => groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

/**
 * For each alert rule, which runs in Prometheus on AWS: the CloudWatch alarm that fires for the same cause,
 * if there is one.
 */
const standsFor: Readonly<Record<string, string | null>> = {
  PasteflowCountingBehind: null,
  PasteflowUploadUnsettled: 'UploadsQueueAge',
  PasteflowUploadsRefused: null,
  PasteflowZombies: null,
  PasteflowLostWork: null,
  PasteflowStranded: null,
  PasteflowWorkAhead: null,
  PasteflowRowsRefused: null,
  PasteflowUnsent: null,
  PasteflowDeletionStuck: null,
  PasteflowReportsWaiting: null,
  PasteflowStorageNearlyFull: null,
  PasteflowPaused: null,
  PasteflowUploadsFailed: null,
  PasteflowUploadAttemptsFailing: null,
  PasteflowEnforcementMissing: null,
  PasteflowPostgresCanLoseData: null,
  PasteflowSnapshotHeld: null,
  PasteflowJobsFailed: null,
  PasteflowJobRunsLong: null,
  PasteflowQueueOld: 'UploadsQueueAge',
  PasteflowWebhooksOld: null,
  PasteflowEventsUntold: null,
  PasteflowWebhookKeysDiffer: null,
  PasteflowDeadLetters: 'UploadsDeadLetters',
  PasteflowSweepOverdue: null,
  PasteflowSweepNeverDone: null,
  PasteflowStateMetricsStale: 'Tasksjanitor',
  PasteflowServiceMissing: 'Tasksapi',
  PasteflowApiErrors: 'ApiUnreachable',
  PasteflowMassDeletionHeld: null,
  PasteflowPostgresCannotWrite: null,
  PasteflowConnectionsDropped: null,
  PasteflowPoolExhausted: 'DatabaseConnections',
  PasteflowLogLost: null,
};

test('every alarm has a description, and notifies the topic when it fires and when it ends', () => {
  const alarms = Object.values(production.resources('services', 'AWS::CloudWatch::Alarm')).filter(
    ({ Properties }) =>
      !JSON.stringify(Properties['AlarmActions']).includes('UploadWorker') &&
      Properties['AlarmDescription'] !== undefined,
  );
  const ours = alarms.filter(({ Properties }) => Properties['OKActions'] !== undefined);
  expect(ours.length).toBe(13);
  for (const { Properties } of ours) {
    expect(Properties['AlarmActions']).toEqual([{ Ref: expect.stringMatching(/^AlarmTopic/) }]);
    expect(Properties['AlarmDescription']).toMatch(/\.$/);
  }
});

test('no alarm fires for long exports, waiting clients or uploads in progress', () => {
  const text = JSON.stringify(Object.values(production.resources('services', 'AWS::CloudWatch::Alarm')));
  const ages = Object.values(production.resources('services', 'AWS::CloudWatch::Alarm'))
    .filter(({ Properties }) => Properties['MetricName'] === 'ApproximateAgeOfOldestMessage')
    .map(({ Properties }) => JSON.stringify(Properties['Dimensions']));
  expect(ages.filter((queue) => queue.includes('UploadsQueue'))).toHaveLength(ages.length);
  for (const metric of ['TargetResponseTime', 'HTTPCode_Target_5XX_Count'])
    expect(text).not.toContain(metric);
  expect(text).toContain('HTTPCode_ELB_5XX_Count');
  const { max, jobsPerTask } = configurations.production.uploadWorker;
  production.template('services').hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'ApproximateNumberOfMessagesVisible',
    Statistic: 'Minimum',
    Threshold: max * jobsPerTask,
    EvaluationPeriods: 15,
  });
});

describe('Prometheus on AWS', () => {
  test.each(stages)('has every alert rule unchanged in %s', (stage) => {
    const { Data, Workspace } = only('AWS::APS::RuleGroupsNamespace', deployment(stage));
    expect(Workspace).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^MonitoringWorkspace/), 'Arn'] });
    expect(parse(String(Data))).toEqual(read('rules/pasteflow.yml'));
  });

  test('the table above has every alert rule', () => {
    const rules = parse(String(only('AWS::APS::RuleGroupsNamespace')['Data'])) as RuleFile;
    expect(Object.keys(standsFor).toSorted()).toEqual(alertsOf(rules).toSorted());
    const alarms = Object.keys(production.resources('services', 'AWS::CloudWatch::Alarm'));
    for (const alarm of Object.values(standsFor))
      if (alarm !== null) expect(alarms).toContainEqual(expect.stringMatching(`^Alarms${alarm}`));
  });

  test('scrapes the same jobs and ports as elsewhere, by the names under which ECS registers tasks', () => {
    const { ScrapeConfiguration } = only('AWS::APS::Scraper') as {
      ScrapeConfiguration: { ConfigurationBlob: string };
    };
    const configuration = parse(
      Buffer.from(ScrapeConfiguration.ConfigurationBlob, 'base64').toString(),
    ) as Scrape;
    const flat = ({ scrape_configs }: Scrape) =>
      scrape_configs.map(({ job_name, dns_sd_configs: [dns] }) => [job_name, dns?.type, dns?.port]);
    expect(flat(configuration)).toEqual(flat(read('prometheus.yml') as Scrape));
    const names = Object.values(production.resources('services', 'AWS::ServiceDiscovery::Service')).map(
      ({ Properties }) => `${String(Properties['Name'])}.pasteflow-production.internal`,
    );
    expect(only('AWS::ServiceDiscovery::PrivateDnsNamespace')['Name']).toBe('pasteflow-production.internal');
    expect(configuration.scrape_configs.flatMap(({ dns_sd_configs: [dns] }) => dns?.names)).toEqual(names);
    for (const { Properties } of Object.values(production.resources('services', 'AWS::ECS::Service')))
      expect(Properties['ServiceRegistries']).toHaveLength(1);
  });

  test('and other members of its security group reach only the metrics of each service', () => {
    const scrapers = { 'Fn::GetAtt': [expect.stringMatching(/^MonitoringScrapers/), 'GroupId'] };
    const ingress = Object.values(production.resources('services', 'AWS::EC2::SecurityGroupIngress'))
      .map(({ Properties }) => Properties)
      .filter(({ Description }) => Description === 'Metrics');
    expect(ingress.map(({ FromPort }) => FromPort)).toEqual([9464, 9465, 9466]);
    for (const { FromPort, ToPort, SourceSecurityGroupId } of ingress) {
      expect(ToPort).toBe(FromPort);
      expect(SourceSecurityGroupId).toEqual(scrapers);
    }
    expect(only('AWS::APS::Scraper')['Source']).toMatchObject({
      VpcConfiguration: { SecurityGroupIds: [scrapers], SubnetIds: { length: 3 } },
    });
    production.template('services').hasOutput('*', { Value: scrapersOutput() });
  });

  test('sends its alerts to the topic of the alarms, whose policy allows it', () => {
    const { AlertManagerDefinition } = only('AWS::APS::Workspace') as {
      AlertManagerDefinition: { 'Fn::Join': [string, (string | { Ref: string })[]] };
    };
    const [separator, parts] = AlertManagerDefinition['Fn::Join'];
    const text = parts.map((part) => (typeof part === 'string' ? part : part.Ref)).join(separator);
    const { alertmanager_config: inner } = parse(text) as { alertmanager_config: string };
    expect(parse(inner)).toMatchObject({
      route: { receiver: 'topic' },
      receivers: [
        {
          name: 'topic',
          sns_configs: [
            { topic_arn: expect.stringMatching(/^AlarmTopic/), sigv4: { region: 'eu-central-1' } },
          ],
        },
      ],
    });
    const topic = JSON.stringify(Object.values(production.resources('services', 'AWS::SNS::TopicPolicy')));
    expect(topic).toContain('"Principal":{"Service":"aps.amazonaws.com"}');
    const keys = JSON.stringify(Object.values(production.resources('services', 'AWS::KMS::Key')));
    expect(keys).toContain('"Principal":{"Service":"aps.amazonaws.com"}');
  });
});

interface Scrape {
  readonly scrape_configs: {
    readonly job_name: string;
    readonly dns_sd_configs: { readonly names: string[]; readonly type: string; readonly port: number }[];
  }[];
}

function scrapersOutput(): unknown {
  const [id] = Object.keys(production.resources('services', 'AWS::EC2::SecurityGroup')).filter((name) =>
    name.startsWith('MonitoringScrapers'),
  );
  return { 'Fn::GetAtt': [id, 'GroupId'] };
}
