import { readFileSync } from 'node:fs';
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { retiredSettings } from '../../packages/service-kit/src/retired-settings.ts';
import { Alarms } from './alarms.ts';
import { type Configuration, derivedSettings, JANITORS, type ServiceName } from './configuration.ts';
import type { DataStack } from './data-stack.ts';
import type { FoundationStack } from './foundation-stack.ts';
import { InternalEntrance, OPERATIONS_PORT, OperationsPage } from './internal-entrance.ts';
import { AlarmTopic, METRICS_PORTS, type MonitoredService, Monitoring } from './monitoring.ts';
import { apiPermissions, janitorPermissions, uploadWorkerPermissions } from './permissions.ts';
import { PublicEntrance } from './public-entrance.ts';
import { scaleApi, scaleUploadWorker } from './scaling.ts';
import { ServiceTask, type ServiceTaskProps } from './service-task.ts';

export interface ServicesStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly foundation: FoundationStack;
  readonly data: DataStack;
  /** The tag of all three images. */
  readonly imageTag: string;
}

const API_PORT = 3000;

export class ServicesStack extends Stack {
  readonly #props: ServicesStackProps;
  /** Of all three services. */
  readonly #webhookKey: Readonly<Record<string, ecs.Secret>>;

  constructor(scope: Construct, id: string, props: ServicesStackProps) {
    const { configuration, foundation, data, imageTag: _, ...stackProps } = props;
    super(scope, id, stackProps);
    this.#props = props;
    const { domain } = configuration;
    this.#webhookKey = this.#importedSecret('WebhookKey', 'WEBHOOK_KEY', configuration.webhookKeyArn);
    const entrance = new PublicEntrance(this, 'Entrance', {
      configuration,
      vpc: foundation.vpc,
      accessLogs: data.accessLogs,
    });

    const publicUrl =
      domain === null ? `http://${entrance.balancer.loadBalancerDnsName}` : `https://${domain.name}`;

    requireOidcClient(configuration);
    const api = this.#service('api', {
      size: configuration.api,
      secrets: this.#importedSecret(
        'OidcClientSecret',
        'OIDC_CLIENT_SECRET',
        configuration.oidcClientSecretArn,
      ),
      permissions: apiPermissions(data),
      ports: [API_PORT],
      environment: {
        API_HOST: '0.0.0.0',
        API_PORT: String(API_PORT),
        PUBLIC_URL: publicUrl,
        TRUST_PROXY: '1', // the load balancer
      },
    });
    const requests = entrance.leadTo(api.service, API_PORT);
    scaleApi(api.service, configuration.api, requests);

    const uploadWorker = this.#service('upload-worker', {
      size: configuration.uploadWorker,
      permissions: uploadWorkerPermissions(data),
    });
    scaleUploadWorker(uploadWorker.service, configuration.uploadWorker, data);

    const janitor = this.#janitor(publicUrl);

    const alarms = new AlarmTopic(this, 'AlarmTopic', configuration);
    new Monitoring(this, 'Monitoring', {
      configuration,
      vpc: foundation.vpc,
      services: { api, 'upload-worker': uploadWorker, janitor },
      alarms,
    });
    new Alarms(this, 'Alarms', {
      configuration,
      topic: alarms.topic,
      data,
      balancer: entrance.balancer,
      requests,
      services: { api: api.service, 'upload-worker': uploadWorker.service, janitor: janitor.service },
      min: {
        api: configuration.api.min,
        'upload-worker': configuration.uploadWorker.min,
        janitor: JANITORS,
      },
    });
    new CfnOutput(this, 'Address', { value: entrance.balancer.loadBalancerDnsName });
  }

  /**
   * The janitors, with the operations page if there is one.
   * @param publicUrl for the links of invitations
   */
  #janitor(publicUrl: string): MonitoredService {
    const { configuration, foundation, data } = this.#props;
    const { operations } = configuration;
    const page = operations === null ? null : new OperationsPage(this, 'Operations', operations);
    const tunnel = operations?.via === 'tunnel';
    const janitor = this.#service('janitor', {
      size: configuration.janitor,
      permissions: janitorPermissions(data),
      tasks: JANITORS,
      tunnel,
      ...(operations?.via === 'balancer' && { ports: [OPERATIONS_PORT] }),
      environment: { PUBLIC_URL: publicUrl, ...page?.environment },
      ...(page !== null && { secrets: page.secrets }),
    });
    if (operations?.via === 'balancer')
      new InternalEntrance(this, 'OperationsEntrance', {
        operations,
        vpc: foundation.vpc,
        accessLogs: data.accessLogs,
        janitor,
      });
    return janitor;
  }

  /** Imported by its complete ARN: the execution role of a service that takes it can read this one secret. */
  #importedSecret(id: string, setting: string, arn: string | null): Readonly<Record<string, ecs.Secret>> {
    if (arn === null) return {};
    return { [setting]: ecs.Secret.fromSecretsManager(Secret.fromSecretCompleteArn(this, id, arn)) };
  }

  #service(
    name: ServiceName,
    task: Pick<ServiceTaskProps, 'size' | 'permissions' | 'environment' | 'ports' | 'secrets' | 'tunnel'> & {
      readonly tasks?: number;
    },
  ): MonitoredService {
    const { configuration, foundation, data, imageTag } = this.#props;
    const { definition } = new ServiceTask(this, `Task-${name}`, {
      ...task,
      secrets: { ...task.secrets, ...this.#webhookKey },
      name,
      configuration,
      data,
      imageTag,
      repository: foundation.repositories[name],
      entry: 'dist/main.js',
      healthPort: METRICS_PORTS[name],
      credentials: data.serviceCredentials[name],
      environment: {
        ...sharedEnvironment(configuration, data),
        ...task.environment,
        ...settingsOf(configuration, name),
      },
    });
    const group = new ec2.SecurityGroup(this, `Group-${name}`, {
      vpc: foundation.vpc,
      description: `The ${name} tasks`,
    });
    const service = new ecs.FargateService(this, `Service-${name}`, {
      cluster: foundation.cluster,
      serviceName: name,
      taskDefinition: definition,
      // Undefined for scaled services, whose count a deployment would otherwise reset.
      ...(task.tasks !== undefined && { desiredCount: task.tasks }),
      securityGroups: [
        group,
        // Imported as immutable: otherwise the load balancer would add a rule to it, and the stacks would
        // depend on each other.
        ec2.SecurityGroup.fromSecurityGroupId(
          this,
          `Database-${name}`,
          data.databaseClients.securityGroupId,
          { mutable: false },
        ),
      ],
      vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      assignPublicIp: false,
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      // Adds the rights of the agent to the role of the task.
      enableExecuteCommand: task.tunnel === true,
      circuitBreaker: { rollback: true },
      availabilityZoneRebalancing: ecs.AvailabilityZoneRebalancing.ENABLED,
      ...(name === 'api' && { healthCheckGracePeriod: Duration.seconds(30) }),
    });
    return { service, group };
  }
}

function sharedEnvironment(
  { region, poolSize }: Configuration,
  { bucket, uploads, jobs }: DataStack,
): Record<string, string> {
  return {
    PASTEFLOW_STACK: 'aws',
    AWS_REGION: region,
    S3_BUCKET: bucket.bucketName,
    UPLOAD_QUEUE_NAME: uploads.queue.queueName,
    JOB_QUEUE_NAME: jobs.queue.queueName,
    DATABASE_POOL_SIZE: String(poolSize),
  };
}

/** A variable of the OpenTelemetry specification. .env.example names only the usual ones. */
const OPEN_TELEMETRY = /^OTEL_[A-Z0-9_]+$/;

/**
 * The settings that `environment` of the configuration has for a service.
 * @throws Error that names a setting which is retired, which no service reads, or which the stacks set
 */
function settingsOf({ environment }: Configuration, service: ServiceName): Record<string, string> {
  const settings: Record<string, string> = { ...environment.all, ...environment[service] };
  const known = knownSettings();
  for (const name of Object.keys(settings)) {
    if ((derivedSettings as readonly string[]).includes(name))
      throw new Error(
        `environment: ${name} is set by the stacks; remove it from the configuration. docs/deploy.md says where secrets belong`,
      );
    const advice = Object.hasOwn(retiredSettings, name) ? retiredSettings[name] : undefined;
    if (advice !== undefined)
      throw new Error(`environment: remove ${name}, which is retired; in a service it ${advice}`);
    if (!known.has(name) && !OPEN_TELEMETRY.test(name))
      throw new Error(`environment: no service reads ${name}; .env.example lists every setting`);
  }
  return settings;
}

/**
 * `OIDC_CLIENT_SECRET` is useless without the client that it belongs to, and the api would not start with it.
 * @throws Error that names the setting which is missing
 */
function requireOidcClient(configuration: Configuration): void {
  if (configuration.oidcClientSecretArn === null) return;
  if (settingsOf(configuration, 'api')['OIDC_CLIENT_ID'] === undefined)
    throw new Error(
      'oidcClientSecretArn: the environment of the api has no OIDC_CLIENT_ID; set both or none of them',
    );
}

function knownSettings(): Set<string> {
  const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  return new Set([...text.matchAll(/^# ([A-Z][A-Z0-9_]*)=/gm)].map(([, name = '']) => name));
}
