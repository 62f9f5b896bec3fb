import { readFileSync } from 'node:fs';
import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import * as aps from 'aws-cdk-lib/aws-aps';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import { DnsRecordType, PrivateDnsNamespace } from 'aws-cdk-lib/aws-servicediscovery';
import { Construct } from 'constructs';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Configuration, ServiceName } from './configuration.ts';

/** The port of each service for /metrics, /healthz and /readyz. */
export const METRICS_PORTS: Readonly<Record<ServiceName, number>> = {
  api: 9464,
  'upload-worker': 9465,
  janitor: 9466,
};

export interface MonitoredService {
  readonly service: ecs.FargateService;
  readonly group: ec2.SecurityGroup;
}

export interface MonitoringProps {
  readonly configuration: Configuration;
  readonly vpc: ec2.IVpc;
  readonly services: Readonly<Record<ServiceName, MonitoredService>>;
  readonly alarms: AlarmTopic;
}

const SCRAPE_INTERVAL = '30s'; // the rules look over two minutes at least

/**
 * Amazon Managed Service for Prometheus with the alert rules of infra/observability. Most rules use figures
 * that only Postgres and the processes have and CloudWatch does not; a second set of alarms for CloudWatch
 * would drift from them. Prometheus evaluates the rules even when nothing is scraped, so
 * PasteflowServiceMissing fires when the collector fails. The collector finds tasks by their names in Cloud
 * Map.
 */
export class Monitoring extends Construct {
  readonly #props: MonitoringProps;
  readonly #domain: string;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.#props = props;
    const { stage } = props.configuration;
    this.#domain = `pasteflow-${stage}.internal`;
    const workspace = new aps.CfnWorkspace(this, 'Workspace', {
      alias: `pasteflow-${stage}`,
      alertManagerDefinition: this.#alertManager(),
    });
    workspace.node.addDependency(props.alarms);
    this.#scrape(workspace, this.#discover());
    new aps.CfnRuleGroupsNamespace(this, 'Rules', {
      workspace: workspace.attrArn,
      name: 'pasteflow',
      data: readFileSync(new URL('../observability/prometheus/rules/pasteflow.yml', import.meta.url), 'utf8'),
    });
  }

  /** @returns the security group for the collector, and for any Prometheus of your own */
  #discover(): ec2.SecurityGroup {
    const { vpc, services } = this.#props;
    const namespace = new PrivateDnsNamespace(this, 'Namespace', { vpc, name: this.#domain });
    const scrapers = new ec2.SecurityGroup(this, 'Scrapers', {
      vpc,
      description: 'May reach the metrics of the services',
      allowAllOutbound: false,
    });
    for (const [name, { service, group }] of Object.entries(services)) {
      service.enableCloudMap({
        cloudMapNamespace: namespace,
        name,
        dnsRecordType: DnsRecordType.A,
        dnsTtl: Duration.seconds(15),
      });
      group.connections.allowFrom(scrapers, ec2.Port.tcp(METRICS_PORTS[name as ServiceName]), 'Metrics');
    }
    new CfnOutput(this, 'ScrapersGroup', { value: scrapers.securityGroupId });
    return scrapers;
  }

  #scrape(workspace: aps.CfnWorkspace, scrapers: ec2.SecurityGroup): void {
    const { configuration, vpc, services } = this.#props;
    const configurationOfPrometheus = {
      global: { scrape_interval: SCRAPE_INTERVAL, scrape_timeout: '10s' },
      scrape_configs: (Object.keys(services) as ServiceName[]).map((name) => ({
        job_name: name,
        dns_sd_configs: [
          {
            names: [`${name}.${this.#domain}`],
            type: 'A',
            port: METRICS_PORTS[name],
            refresh_interval: SCRAPE_INTERVAL,
          },
        ],
      })),
    };
    new aps.CfnScraper(this, 'Scraper', {
      alias: `pasteflow-${configuration.stage}`,
      destination: { ampConfiguration: { workspaceArn: workspace.attrArn } },
      source: {
        vpcConfiguration: {
          securityGroupIds: [scrapers.securityGroupId],
          subnetIds: vpc.selectSubnets({ subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS }).subnetIds,
        },
      },
      // The service expects YAML. JSON is valid YAML.
      scrapeConfiguration: {
        configurationBlob: Buffer.from(JSON.stringify(configurationOfPrometheus)).toString('base64'),
      },
    });
  }

  #alertManager(): string {
    const { alarms, configuration } = this.#props;
    const receiver = {
      name: 'topic',
      sns_configs: [
        {
          topic_arn: alarms.topic.topicArn,
          sigv4: { region: configuration.region },
          send_resolved: true,
        },
      ],
    };
    const definition = {
      route: { receiver: receiver.name, group_by: ['alertname'], repeat_interval: '12h' },
      receivers: [receiver],
    };
    // The service expects a YAML string. JSON is valid YAML.
    return Stack.of(this).toJsonString({ alertmanager_config: Stack.of(this).toJsonString(definition) });
  }
}

/** The topic of all alarms, from CloudWatch and from Prometheus. */
export class AlarmTopic extends Construct {
  readonly topic: sns.Topic;
  readonly #key: kms.Key;

  constructor(scope: Construct, id: string, { stage, alarmEmail }: Configuration) {
    super(scope, id);
    this.#key = new kms.Key(this, 'Key', { enableKeyRotation: true });
    this.#key.grantEncryptDecrypt(new ServicePrincipal('cloudwatch.amazonaws.com')); // CloudWatch can't use AWS' own key, and its messages would be lost
    this.topic = new sns.Topic(this, 'Topic', {
      topicName: `pasteflow-${stage}-alarms`,
      masterKey: this.#key,
      enforceSSL: true,
    });
    if (alarmEmail !== null) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    this.#admitPrometheus();
  }

  /**
   * Allows Amazon Managed Service for Prometheus to publish. The policy can't name the workspace, which is
   * created after the topic.
   */
  #admitPrometheus(): void {
    const stack = Stack.of(this);
    const statement = (actions: string[], resource: string) =>
      new PolicyStatement({
        principals: [new ServicePrincipal('aps.amazonaws.com')],
        actions,
        resources: [resource],
        conditions: {
          ArnLike: { 'aws:SourceArn': stack.formatArn({ service: 'aps', resource: 'workspace/*' }) },
          StringEquals: { 'aws:SourceAccount': stack.account },
        },
      });
    this.topic.addToResourcePolicy(statement(['sns:Publish', 'sns:GetTopicAttributes'], this.topic.topicArn));
    this.#key.addToResourcePolicy(statement(['kms:GenerateDataKey*', 'kms:Decrypt'], '*'));
  }
}
