import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { type QueueDescription, type QueueSettings, readResources, type Resources } from '../resources.ts';
import { type Configuration, removalPolicy, type ServiceName } from './configuration.ts';

export interface DataStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly vpc: ec2.IVpc;
}

export const DATABASE_NAME = 'pasteflow';

/** The resources that must outlive every deployment: the database, the bucket, the queues. */
export class DataStack extends Stack {
  /** The database that the services use. A restored one, if the configuration names its host. */
  readonly database: rds.IDatabaseInstance;
  /**
   * The credentials of the master user, for the migration only. Also valid for a restored database, because a
   * restore keeps the password.
   */
  readonly databaseCredentials: ISecret;
  /** The credentials of each service's own role. The migration creates the roles and sets their passwords. */
  readonly serviceCredentials: Readonly<Record<ServiceName, ISecret>>;
  /** The security group whose members may connect to the database. */
  readonly databaseClients: ec2.SecurityGroup;
  readonly bucket: s3.Bucket;
  readonly accessLogs: s3.Bucket;
  readonly uploads: QueuePair;
  readonly jobs: QueuePair;
  readonly #configuration: Configuration;

  constructor(scope: Construct, id: string, { configuration, vpc, ...props }: DataStackProps) {
    super(scope, id, props);
    this.#configuration = configuration;
    const resources = readResources();
    this.databaseClients = new ec2.SecurityGroup(this, 'DatabaseClients', {
      vpc,
      description: 'May reach Postgres',
    });
    const instance = this.#makeDatabase(vpc);
    if (instance.secret === undefined) throw new Error('the database has no generated credentials');
    this.databaseCredentials = instance.secret;
    this.serviceCredentials = {
      api: this.#makeCredentials('pasteflow_api'),
      'upload-worker': this.#makeCredentials('pasteflow_worker'),
      janitor: this.#makeCredentials('pasteflow_janitor'),
    };
    this.database = this.#inUse(instance);
    this.accessLogs = this.#makeAccessLogs();
    this.bucket = this.#makeBucket(resources);
    this.uploads = this.#makeQueues('Uploads', resources, 'uploads');
    this.jobs = this.#makeQueues('Jobs', resources, 'jobs');
  }

  get #removal(): RemovalPolicy {
    return removalPolicy(this.#configuration);
  }

  /**
   * No RDS Proxy. The services hold few and long-lived connections, whose number is bounded
   * (`maxConnections`, tested against the instance). A proxy would pool nothing, because it pins connections
   * with session advisory locks and idle_session_timeout (the janitor's sweeps, the migrator). It would add 1
   * to 5 ms to every statement and cost as much as a small instance. After a failover the pools reconnect by
   * themselves.
   */
  #makeDatabase(vpc: ec2.IVpc): rds.DatabaseInstance {
    const { stage, database, protect, logDays } = this.#configuration;
    // Our own key, because a snapshot under AWS' key can't be restored in another account.
    const key = new kms.Key(this, 'DatabaseKey', { enableKeyRotation: true, removalPolicy: this.#removal });
    const group = new ec2.SecurityGroup(this, 'Database', {
      vpc,
      description: 'Postgres',
      allowAllOutbound: false,
    });
    group.addIngressRule(this.databaseClients, ec2.Port.tcp(5432), 'The services and the migration');
    // Created here before RDS creates it: otherwise `cloudwatchLogsRetention` would need a Lambda.
    const logGroup = new logs.LogGroup(this, 'PostgresLogs', {
      logGroupName: `/aws/rds/instance/pasteflow-${stage}/postgresql`,
      retention: logDays,
      removalPolicy: this.#removal,
    });
    const engine = rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_18 });
    const instance = new rds.DatabaseInstance(this, 'Postgres', {
      instanceIdentifier: `pasteflow-${stage}`,
      engine,
      databaseName: DATABASE_NAME,
      vpc,
      vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
      securityGroups: [group],
      instanceType: new ec2.InstanceType(database.instance),
      credentials: rds.Credentials.fromGeneratedSecret('pasteflow'),
      multiAz: database.multiAz,
      storageType: rds.StorageType.GP3,
      allocatedStorage: database.storageGiB,
      maxAllocatedStorage: database.maxStorageGiB,
      storageEncrypted: true,
      storageEncryptionKey: key,
      backupRetention: Duration.days(database.backupDays),
      preferredBackupWindow: '02:00-03:00',
      preferredMaintenanceWindow: 'sun:03:30-sun:04:30',
      copyTagsToSnapshot: true,
      deleteAutomatedBackups: !protect,
      deletionProtection: protect,
      removalPolicy: protect ? RemovalPolicy.SNAPSHOT : RemovalPolicy.DESTROY,
      autoMinorVersionUpgrade: true,
      caCertificate: rds.CaCertificate.RDS_CA_RSA2048_G1,
      performanceInsightRetention: rds.PerformanceInsightRetention.DEFAULT,
      performanceInsightEncryptionKey: key,
      cloudwatchLogsExports: ['postgresql'],
      parameterGroup: new rds.ParameterGroup(this, 'Parameters', {
        engine,
        parameters: {
          'rds.force_ssl': '1',
          log_min_duration_statement: '1000',
          // The parameters of statements are the content of pastes, and DETAIL of an error can have a whole
          // row.
          log_parameter_max_length: '0',
          log_parameter_max_length_on_error: '0',
          log_error_verbosity: 'terse',
          // paste_payloads gets and loses thousands of rows a second. With the default of 200, dead rows
          // would accumulate.
          autovacuum_vacuum_cost_limit: '2000',
        },
      }),
    });
    instance.node.addDependency(logGroup);
    this.#tellRestorers(instance, group);
    return instance;
  }

  /** User and password of a role. RDS rotates only the secret of its master user. */
  #makeCredentials(role: string): ISecret {
    return new rds.DatabaseSecret(this, `Credentials-${role}`, { username: role });
  }

  /**
   * A restore needs these values, because it would use the VPC's default groups and the default parameters of
   * RDS.
   */
  #tellRestorers(instance: rds.DatabaseInstance, group: ec2.SecurityGroup): void {
    const { dbSubnetGroupName, dbParameterGroupName } = instance.node.defaultChild as rds.CfnDBInstance;
    const outputs = {
      DatabaseSubnetGroup: dbSubnetGroupName,
      DatabaseSecurityGroup: group.securityGroupId,
      DatabaseParameters: dbParameterGroupName,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value: value ?? '' });
  }

  #inUse(instance: rds.DatabaseInstance): rds.IDatabaseInstance {
    // Always exported: CloudFormation removes no export that a stack imports, so `host` could otherwise never
    // be set.
    for (const value of [
      instance.instanceIdentifier,
      instance.dbInstanceEndpointAddress,
      instance.dbInstanceEndpointPort,
    ])
      this.exportValue(value);
    const { host } = this.#configuration.database;
    if (host === null) return instance;
    return rds.DatabaseInstance.fromDatabaseInstanceAttributes(this, 'Restored', {
      instanceIdentifier: host.split('.')[0] ?? host,
      instanceEndpointAddress: host,
      port: 5432,
      securityGroups: [],
    });
  }

  /**
   * Versioned, so that a wrong deletion can be undone for 7 days (`npm run ops -- restore-objects`): by a
   * wrong S3_BUCKET, a restored database, or an error in a sweep. The services' roles can delete objects, but
   * no versions. `reconcile` lists current versions only. The content of a deleted paste therefore remains in
   * the bucket for up to 7 days and S3's next expiry run; no service serves it. A deleted object without
   * versions leaves a delete marker, which expires too.
   */
  #makeBucket({ bucket }: Resources): s3.Bucket {
    return new s3.Bucket(this, 'Content', {
      encryption: s3.BucketEncryption.S3_MANAGED, // KMS would add a request for each paste, and another dependency
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      serverAccessLogsBucket: this.accessLogs,
      serverAccessLogsPrefix: 'content/',
      lifecycleRules: [
        {
          id: 'abort-stray-multipart-uploads',
          abortIncompleteMultipartUploadAfter: Duration.days(bucket.abortMultipartUploadsAfterDays),
        },
        {
          id: 'expire-old-versions',
          noncurrentVersionExpiration: Duration.days(bucket.expireOldVersionsAfterDays),
          expiredObjectDeleteMarker: true,
        },
      ],
      removalPolicy: this.#removal,
      autoDeleteObjects: false, // without `protect`, an operator empties the bucket first: no Lambda may do that
    });
  }

  /**
   * Access logs of S3 and of the load balancer. Short codes give access to pastes, so the logs expire soon.
   */
  #makeAccessLogs(): s3.Bucket {
    return new s3.Bucket(this, 'AccessLogs', {
      encryption: s3.BucketEncryption.S3_MANAGED, // a load balancer can write to no bucket with another encryption
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      lifecycleRules: [{ expiration: Duration.days(30) }],
      removalPolicy: this.#removal,
    });
  }

  #makeQueues(
    id: string,
    { queues, deadLetterSuffix }: Resources,
    kind: keyof Resources['queues'],
  ): QueuePair {
    const { stage } = this.#configuration;
    const description = queues[kind];
    const name = stage === 'production' ? description.name : `${description.name}-${stage}`;
    return new QueuePair(this, id, { name, deadLetterName: `${name}${deadLetterSuffix}`, description });
  }
}

/**
 * A queue and its dead-letter queue as resources.json describes them. Both are encrypted and accept only TLS.
 */
export class QueuePair extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetters: sqs.Queue;

  constructor(
    scope: Construct,
    id: string,
    props: { name: string; deadLetterName: string; description: QueueDescription },
  ) {
    super(scope, id);
    const { name, deadLetterName, description } = props;
    this.deadLetters = this.#make('DeadLetters', deadLetterName, description.deadLetters);
    this.queue = this.#make('Queue', name, description, {
      queue: this.deadLetters,
      maxReceiveCount: description.maxReceiveCount,
    });
  }

  #make(
    id: string,
    queueName: string,
    settings: QueueSettings,
    deadLetterQueue?: sqs.DeadLetterQueue,
  ): sqs.Queue {
    return new sqs.Queue(this, id, {
      queueName,
      visibilityTimeout: Duration.seconds(settings.visibilitySeconds),
      retentionPeriod: Duration.seconds(settings.retentionSeconds),
      // The key of SQS: a KMS key would cost a request to KMS for each data key, and every paste would depend
      // on KMS.
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      ...(deadLetterQueue && { deadLetterQueue }),
    });
  }
}
