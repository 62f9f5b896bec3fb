import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readResources, type QueueSettings } from '../resources.ts';
import { deployment } from './support/deployments.ts';

const { bucket, deadLetterSuffix, queues } = readResources();

/** The attributes of each queue in the form of SQS. The redrive policy is given without the account. */
type Told = Record<
  string,
  { VisibilityTimeout: string; MessageRetentionPeriod: string; redrive?: [string, number] }
>;

function lasting({ visibilitySeconds, retentionSeconds }: QueueSettings) {
  return { VisibilityTimeout: String(visibilitySeconds), MessageRetentionPeriod: String(retentionSeconds) };
}

const described: Told = Object.fromEntries(
  Object.values(queues).flatMap(({ name, deadLetters, maxReceiveCount, ...queue }) => [
    [`${name}${deadLetterSuffix}`, lasting(deadLetters)],
    [name, { ...lasting(queue), redrive: [`${name}${deadLetterSuffix}`, maxReceiveCount] }],
  ]),
);

function told({ RedrivePolicy, ...attributes }: Record<string, string>): Told[string] {
  if (RedrivePolicy === undefined) return attributes as unknown as Told[string];
  const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(RedrivePolicy) as Record<string, string>;
  return {
    ...attributes,
    redrive: [deadLetterTargetArn?.split(':').at(-1) ?? '', Number(maxReceiveCount)],
  } as unknown as Told[string];
}

/**
 * Imported by a path that the compiler doesn't follow, because the sources of the workspace have other
 * compiler settings.
 */
async function source<T>(path: string): Promise<T> {
  return (await import(new URL(`../../${path}`, import.meta.url).pathname)) as T;
}

describe('resources.json, which describes the bucket and the queues,', () => {
  test('is what the embedded stack creates', async () => {
    const { queueDefinitions, DEFAULT_QUEUES } = await source<{
      queueDefinitions: (
        names: object,
        region: string,
      ) => { name: string; attributes: Record<string, string> }[];
      DEFAULT_QUEUES: object;
    }>('packages/dev-stack/src/aws/queues.ts');
    const made = queueDefinitions(DEFAULT_QUEUES, 'us-east-1');
    expect(Object.fromEntries(made.map(({ name, attributes }) => [name, told(attributes)]))).toEqual(
      described,
    );
  });

  test('has the default names of the services', async () => {
    interface Parser {
      parse: (env: object) => unknown;
    }
    const { queueEnv } = await source<{ queueEnv: Parser }>('packages/service-kit/src/settings.ts');
    const { bucketEnv } = await source<{ bucketEnv: Parser }>('packages/service-kit/src/settings.ts');
    expect(queueEnv.parse({})).toMatchObject({ uploads: queues.uploads.name, jobs: queues.jobs.name });
    expect(bucketEnv.parse({})).toBe(bucket.name);
    const sqs = await source<{ deadLetterQueueName: (name: string) => string }>('packages/sqs/src/queue.ts');
    expect(sqs.deadLetterQueueName('any')).toBe(`any${deadLetterSuffix}`);
  });

  test('has the prefixes of the keys that the services use', async () => {
    const keys = readFileSync(new URL('../../packages/domain/src/object-key.ts', import.meta.url), 'utf8');
    for (const key of [...Object.values(bucket.prefixes), bucket.owner]) expect(keys).toContain(`'${key}'`);
  });

  test('is what the init script of LocalStack creates', () => {
    expect(runInitScript()).toEqual({
      queues: described,
      buckets: [bucket.name],
      abortAfterDays: bucket.abortMultipartUploadsAfterDays,
      versioning: 'Enabled',
      expireOldVersionsAfterDays: bucket.expireOldVersionsAfterDays,
    });
  });

  test('is what the commands of docs/deploy.md create, on the servers that the environment names and nowhere else', () => {
    const environment = {
      AWS_ENDPOINT_URL_S3: 'http://s3.example.org',
      AWS_ENDPOINT_URL_SQS: 'http://sqs.example.org',
    };
    const calls = runCommandsOfGuide(environment);
    for (const [option, endpoint, service] of calls)
      expect([option, endpoint]).toEqual([
        '--endpoint-url',
        service === 's3api' ? environment.AWS_ENDPOINT_URL_S3 : environment.AWS_ENDPOINT_URL_SQS,
      ]);
    const valueOf = (call: string[], option: string) => call[call.indexOf(option) + 1] ?? '';
    const made = calls.filter((call) => call[3] === 'create-queue');
    expect(
      Object.fromEntries(
        made.map((call) => [
          valueOf(call, '--queue-name'),
          told(attributesOf(valueOf(call, '--attributes'))),
        ]),
      ),
    ).toEqual(described);
    expect(calls.find((call) => call[3] === 'create-bucket')?.at(-1)).toBe(bucket.name);
    expect(runCommandsOfGuide({})).toEqual([]);
  });

  test('is what the AWS stacks create, in production under the same names', () => {
    const made = Object.values(deployment('production').resources('data', 'AWS::SQS::Queue'));
    const names = Object.fromEntries(
      made.map(({ Properties }) => {
        const { QueueName, VisibilityTimeout, MessageRetentionPeriod } = Properties;
        return [
          QueueName,
          {
            VisibilityTimeout: String(VisibilityTimeout),
            MessageRetentionPeriod: String(MessageRetentionPeriod),
          },
        ];
      }),
    );
    expect(names).toEqual(
      Object.fromEntries(
        Object.entries(described).map(([name, { redrive: _, ...attributes }]) => [name, attributes]),
      ),
    );
    for (const { Properties } of made) {
      const redrive = Properties['RedrivePolicy'] as { maxReceiveCount: number } | undefined;
      expect(redrive?.maxReceiveCount).toBe(described[String(Properties['QueueName'])]?.redrive?.[1]);
      expect(Properties['SqsManagedSseEnabled']).toBe(true);
    }
  });

  test('leads to different names of queues in two stages of one account', () => {
    const names = (stage: 'development' | 'staging') =>
      Object.values(deployment(stage).resources('data', 'AWS::SQS::Queue')).map(
        ({ Properties }) => Properties['QueueName'],
      );
    expect(new Set([...names('development'), ...names('staging'), ...Object.keys(described)]).size).toBe(12);
  });
});

/** As a CLI that doesn't read AWS_ENDPOINT_URL_SQS: it writes its arguments, and answers with the name of a queue. */
const FAKE_AWS = `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
const args = process.argv.slice(2);
appendFileSync(process.env.CALLS, JSON.stringify(args) + '\\n');
const after = (option) => args[args.indexOf(option) + 1];
if (args.includes('create-queue')) console.log(after('--endpoint-url') + '/0/' + after('--queue-name'));
if (args.includes('get-queue-attributes')) console.log('arn:aws:sqs:us-east-1:0:' + after('--queue-url').split('/').at(-1));
`;

/** The arguments of each call of `aws` by the commands of the guide. */
function runCommandsOfGuide(environment: Readonly<Record<string, string>>): string[][] {
  const guide = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const commands = /^```\n([^`]*create-bucket --bucket[^`]*)^```$/m.exec(guide)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'pasteflow-aws-'));
  try {
    const CALLS = join(folder, 'calls');
    writeFileSync(CALLS, '');
    writeFileSync(join(folder, 'aws'), FAKE_AWS, { mode: 0o755 });
    spawnSync('bash', ['-c', commands], {
      env: { ...environment, CALLS, PATH: `${folder}:${process.env['PATH']}` },
    });
    return readFileSync(CALLS, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string[]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** JSON, or `Name=value,Name=value`. */
function attributesOf(text: string): Record<string, string> {
  if (text.startsWith('{')) return JSON.parse(text) as Record<string, string>;
  return Object.fromEntries(text.split(',').map((pair) => pair.split('=') as [string, string]));
}

const FAKE_BOTO3 = `
import json, atexit
told = {"queues": {}, "buckets": [], "abortAfterDays": None, "versioning": None, "expireOldVersionsAfterDays": None}
class Client:
    class meta: region_name = "us-east-1"
    class exceptions:
        class BucketAlreadyOwnedByYou(Exception): pass
    def create_queue(self, QueueName): return {"QueueUrl": QueueName}
    def set_queue_attributes(self, QueueUrl, Attributes): told["queues"][QueueUrl] = Attributes
    def get_queue_attributes(self, QueueUrl, AttributeNames):
        return {"Attributes": {"QueueArn": "arn:aws:sqs:us-east-1:000000000000:" + QueueUrl}}
    def create_bucket(self, Bucket): told["buckets"].append(Bucket)
    def put_bucket_lifecycle_configuration(self, Bucket, LifecycleConfiguration):
        told["abortAfterDays"] = LifecycleConfiguration["Rules"][0]["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"]
        told["expireOldVersionsAfterDays"] = LifecycleConfiguration["Rules"][1]["NoncurrentVersionExpiration"]["NoncurrentDays"]
    def put_bucket_versioning(self, Bucket, VersioningConfiguration): told["versioning"] = VersioningConfiguration["Status"]
def client(*_, **__): return Client()
atexit.register(lambda: print(json.dumps(told)))
`;

/** Runs the script as LocalStack does, with a boto3 that only records the calls. */
function runInitScript() {
  const folder = mkdtempSync(join(tmpdir(), 'pasteflow-init-'));
  try {
    writeFileSync(join(folder, 'boto3.py'), FAKE_BOTO3);
    const path = (name: string) => new URL(name, import.meta.url).pathname;
    const { stdout, stderr } = spawnSync(
      'python3',
      [path('../../localstack/init/ready.d/10-bucket-and-queues.py')],
      {
        encoding: 'utf8',
        env: { ...process.env, PYTHONPATH: folder, PASTEFLOW_RESOURCES: path('../resources.json') },
      },
    );
    expect(stderr).toBe('');
    const { queues: made, ...rest } = JSON.parse(stdout) as {
      queues: Record<string, Record<string, string>>;
    };
    return {
      queues: Object.fromEntries(Object.entries(made).map(([name, attributes]) => [name, told(attributes)])),
      ...rest,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
