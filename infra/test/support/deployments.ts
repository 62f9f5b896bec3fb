import { afterAll } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration, Stage } from '../../aws/configuration.ts';
import { configurations } from '../../aws/configurations.ts';
import { deploy, featureFlags } from '../../aws/deployment.ts';
import { TUNNEL } from '../../aws/service-task.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/**
 * The CDK removes its own temporary folders when the process ends, which a worker process of Jest never
 * reports.
 */
const outputs = mkdtempSync(join(tmpdir(), 'pasteflow-cdk-'));
afterAll(() => rmSync(outputs, { recursive: true, force: true }));

export function deployment(stage: Stage, overrides: Partial<Configuration> = {}) {
  const outdir = mkdtempSync(join(outputs, 'app-'));
  const app = new App({ analyticsReporting: false, context: featureFlags, outdir });
  const stacks = deploy(app, { ...configurations[stage], ...overrides }, '1.2.3');
  const templates = new Map<keyof typeof stacks, Template>();
  const template = (name: keyof typeof stacks): Template => {
    const known = templates.get(name) ?? Template.fromStack(stacks[name]);
    templates.set(name, known);
    return known;
  };
  return {
    app,
    stacks,
    template,
    /** Properties of all resources of a type, by logical id. */
    resources: (name: keyof typeof stacks, type: string): Record<string, Resource> =>
      template(name).findResources(type) as Record<string, Resource>,
  };
}

export interface Container {
  readonly Name: string;
  readonly Image: unknown;
  readonly Command: string[];
  readonly Secrets: { Name: string }[];
  readonly Environment: { Name: string; Value: unknown }[];
}

/**
 * The containers of the services or of the migration, without that of a tunnel, which has neither settings
 * nor secrets.
 */
export function serviceContainers(
  of: ReturnType<typeof deployment>,
  stack: 'services' | 'migration',
): Container[] {
  return containers(of, stack).filter(({ Name }) => Name !== TUNNEL);
}

export function containers(of: ReturnType<typeof deployment>, stack: 'services' | 'migration'): Container[] {
  return Object.values(of.resources(stack, 'AWS::ECS::TaskDefinition')).flatMap(
    ({ Properties }) => Properties['ContainerDefinitions'] as Container[],
  );
}

/** The ARNs and names in a policy, readable: `bucket/pastes/*`, `uploads`, `uploads-dead-letters`. */
export function readable(value: unknown): string {
  const known: readonly [RegExp, string][] = [
    [/^.*GetAttContent.*Arn\w+/, 'bucket'],
    [/^.*GetAttUploadsQueue.*$/, 'uploads'],
    [/^.*GetAttUploadsDeadLetters.*$/, 'uploads-dead-letters'],
    [/^.*GetAttJobsQueue.*$/, 'jobs'],
    [/^.*GetAttJobsDeadLetters.*$/, 'jobs-dead-letters'],
  ];
  if (typeof value === 'string')
    return known.reduce((text, [pattern, name]) => text.replace(pattern, name), value);
  const [[key, inner] = []] = Object.entries(value as object);
  if (key === 'Fn::ImportValue') return readable(inner);
  if (key === 'Fn::Join') return (inner as [string, unknown[]])[1].map(readable).join((inner as [string])[0]);
  return JSON.stringify(value);
}

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

/**
 * The secrets that the execution role of each service can read: the logical id without its hash, or the ARN
 * of a secret from elsewhere.
 */
export function executionSecrets(of: ReturnType<typeof deployment>): Record<string, string[]> {
  const secrets: Record<string, string[]> = {};
  for (const { Properties } of Object.values(of.resources('services', 'AWS::IAM::Policy'))) {
    const [role] = Properties['Roles'] as { Ref: string }[];
    const [, service] = /^Task(\w+?)TaskExecutionRole/.exec(role?.Ref ?? '') ?? [];
    const { Statement: statements } = Properties['PolicyDocument'] as { Statement: Statement[] };
    const reading = statements.filter(({ Action }) =>
      [Action].flat().includes('secretsmanager:GetSecretValue'),
    );
    if (service === undefined) {
      if (reading.length > 0) throw new Error(`the role ${role?.Ref} can read a secret`);
      continue;
    }
    secrets[service] = reading
      .flatMap(({ Resource }) => (Array.isArray(Resource) ? Resource : [Resource]) as unknown[])
      .map(secretName)
      .toSorted();
  }
  return secrets;
}

function secretName(resource: unknown): string {
  const text = JSON.stringify(resource);
  const known = /Credentialspasteflow[a-z]+|Operations(?:Read)?Token|arn:aws:secretsmanager:[^"]+/.exec(text);
  return known?.[0] ?? text;
}
