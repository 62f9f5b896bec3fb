import { expect, test } from '@jest/globals';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stages, type Configuration, type Stage } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { acknowledge, nagExceptions } from '../aws/nag-exceptions.ts';
import { deployment } from './support/deployments.ts';

const balancer = {
  via: 'balancer',
  url: 'https://ops.example.internal',
  certificateArn: 'arn:aws:acm:eu-central-1:222222222222:certificate/11111111-0000-0000-0000-000000000000',
  clients: ['10.8.0.0/16'],
} as const;

test.each<readonly [Stage, Partial<Configuration>]>([
  ...stages.map((stage) => [stage, {}] as const),
  ['production', { operations: balancer }],
  ['production', { operations: null }],
])('every finding of cdk-nag in %s with %j has a reason, and every reason a finding', (stage, overrides) => {
  const { app } = deployment(stage, overrides);
  const exceptions = nagExceptions({ ...configurations[stage], ...overrides });
  expect(acknowledge(app, exceptions)).toEqual([]);
  app.synth(); // the synthesis sets the names of the exports, which the exceptions use
  const report = new AwsSolutionsChecks(app).validateScope(app);
  const findings = report.violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
  );
  const excepted = exceptions.map(({ path, rule }) => `${path} AwsSolutions-${rule}`);
  expect(findings.filter((finding) => !excepted.includes(finding))).toEqual([]);
  expect(excepted.filter((exception) => !findings.includes(exception))).toEqual([]);
});
