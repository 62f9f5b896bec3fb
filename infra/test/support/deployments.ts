import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Configuration, Stage } from '../../aws/configuration.ts';
import { configurations } from '../../aws/configurations.ts';
import { deploy, featureFlags } from '../../aws/deployment.ts';

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export function deployment(stage: Stage, overrides: Partial<Configuration> = {}) {
  const app = new App({ analyticsReporting: false, context: featureFlags });
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
  readonly Command: string[];
  readonly Secrets: { Name: string }[];
  readonly Environment: { Name: string; Value: unknown }[];
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
