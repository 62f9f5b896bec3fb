import { Duration } from 'aws-cdk-lib';
import type * as ecr from 'aws-cdk-lib/aws-ecr';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { type Configuration, removalPolicy, type TaskSize } from './configuration.ts';
import { DATABASE_NAME, type DataStack } from './data-stack.ts';

export interface ServiceTaskProps {
  readonly name: string;
  readonly configuration: Configuration;
  readonly data: DataStack;
  readonly repository: ecr.IRepository;
  readonly imageTag: string;
  readonly size: TaskSize;
  /** The entry that node runs. RunTask can replace it by another entry of the image. */
  readonly entry: string;
  readonly environment?: Record<string, string>;
  /** User and password of the task in Postgres. */
  readonly credentials: ISecret;
  /**
   * Secrets besides user and password, by the variable that they go into. Only the execution role of this
   * task can read them.
   */
  readonly secrets?: Readonly<Record<string, ecs.Secret>>;
  readonly permissions: readonly PolicyStatement[];
  readonly ports?: readonly number[];
  /** Whether operators can forward ports of the task to their machines. */
  readonly tunnel?: boolean;
  /** The port of /healthz; undefined for a task that runs to its end. */
  readonly healthPort?: number;
}

/** Services stop within 10 s. Fargate kills a task after this time. */
const STOP_TIMEOUT = Duration.seconds(30);

/**
 * One container, without root and with a read-only file system, and with a role that has only the rights in
 * `permissions`.
 */
export class ServiceTask extends Construct {
  readonly definition: ecs.FargateTaskDefinition;
  readonly logGroup: logs.LogGroup;

  constructor(scope: Construct, id: string, props: ServiceTaskProps) {
    super(scope, id);
    const { name, configuration, data, size, healthPort } = props;
    this.logGroup = new logs.LogGroup(this, 'Logs', {
      logGroupName: `/pasteflow/${configuration.stage}/${name}`,
      retention: configuration.logDays,
      removalPolicy: removalPolicy(configuration),
    });
    this.definition = new ecs.FargateTaskDefinition(this, 'Task', {
      family: `pasteflow-${configuration.stage}-${name}`,
      cpu: size.cpu,
      memoryLimitMiB: size.memoryMiB,
      runtimePlatform: {
        cpuArchitecture: ecs.CpuArchitecture.of(configuration.architecture.toUpperCase()),
        operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
      },
    });
    for (const statement of props.permissions) this.definition.addToTaskRolePolicy(statement);
    const image = ecs.ContainerImage.fromEcrRepository(props.repository, props.imageTag);
    this.definition.addContainer(name, {
      containerName: name,
      image,
      logging: this.#logging(name),
      command: [props.entry],
      readonlyRootFilesystem: true,
      user: '65532', // the user `nonroot` of the image
      stopTimeout: STOP_TIMEOUT,
      portMappings: (props.ports ?? []).map((containerPort) => ({ containerPort })),
      environment: { ...databaseEnvironment(data), ...props.environment },
      secrets: {
        PGUSER: ecs.Secret.fromSecretsManager(props.credentials, 'username'),
        PGPASSWORD: ecs.Secret.fromSecretsManager(props.credentials, 'password'),
        ...props.secrets,
      },
      ...(healthPort !== undefined && { healthCheck: healthCheck(healthPort) }),
    });
    if (props.tunnel === true)
      addTunnelContainer(this, this.definition, { image, logging: this.#logging(TUNNEL) });
  }

  #logging(streamPrefix: string): ecs.LogDriver {
    return ecs.LogDrivers.awsLogs({
      logGroup: this.logGroup,
      streamPrefix,
      mode: ecs.AwsLogDriverMode.NON_BLOCKING,
    });
  }
}

/**
 * The URL omits what only Secrets Manager has. pg then takes host, user and password from PGHOST, PGUSER and
 * PGPASSWORD.
 */
function databaseEnvironment({ database }: DataStack): Record<string, string> {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: `postgres:///${DATABASE_NAME}?sslmode=verify-full`,
    PGHOST: database.dbInstanceEndpointAddress,
    PGPORT: database.dbInstanceEndpointPort,
    NODE_EXTRA_CA_CERTS: '/app/certificates/rds.pem', // in the image
  };
}

/** The image has node, but no shell and no curl. ECS ignores the image's own HEALTHCHECK. */
function healthCheck(port: number): ecs.HealthCheck {
  return {
    command: ['CMD', '/usr/local/bin/node', '/app/healthcheck.mjs', String(port)],
    interval: Duration.seconds(10),
    timeout: Duration.seconds(5),
    retries: 3,
    startPeriod: Duration.seconds(20),
  };
}

/** The name of the container, which the command of docs/deploy.md looks for. */
export const TUNNEL = 'tunnel';

/** Waits until it is stopped. The image has no shell, and no program that sleeps. */
const WAIT = 'setInterval(() => {}, 2 ** 30)';

/**
 * Adds a container for the agent of ECS Exec, which forwards ports of the task to an operator. The agent
 * needs a container with a writable file system, which the service itself must not have. This one runs the
 * same image and has none of the service's secrets, so that a session doesn't lead to the database.
 * Containers of a task share the loopback address. The service goes on when this container ends.
 */
function addTunnelContainer(
  scope: Construct,
  definition: ecs.FargateTaskDefinition,
  { image, logging }: Required<Pick<ecs.ContainerDefinitionOptions, 'image' | 'logging'>>,
): void {
  definition.addContainer(TUNNEL, {
    containerName: TUNNEL,
    image,
    logging,
    command: ['--eval', WAIT],
    essential: false,
    readonlyRootFilesystem: false,
    user: '65532',
    // An init process removes the ended processes of the agent, and passes SIGTERM on, which ends node.
    linuxParameters: new ecs.LinuxParameters(scope, 'TunnelProcesses', { initProcessEnabled: true }),
  });
}
