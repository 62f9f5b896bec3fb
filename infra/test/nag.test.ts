import { expect, test } from '@jest/globals';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stages } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { acknowledge, nagExceptions } from '../aws/nag-exceptions.ts';
import { deployment } from './support/deployments.ts';

test.each(stages)('every finding of cdk-nag in %s has a reason, and every reason a finding', (stage) => {
  const { app } = deployment(stage);
  const exceptions = nagExceptions(configurations[stage]);
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
