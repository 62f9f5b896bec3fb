import { expect, test } from '@jest/globals';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stages } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { acknowledge, nagExceptions } from '../aws/nag-exceptions.ts';
import { deployment } from './support/deployments.ts';

test.each(stages)(
  'cdk-nag finds nothing in %s but what has its reason, and no reason is left over',
  (stage) => {
    const { app } = deployment(stage);
    const exceptions = nagExceptions(configurations[stage]);
    expect(acknowledge(app, exceptions)).toEqual([]);
    app.synth(); // only then what passes between stacks has the names that the exceptions know
    const report = new AwsSolutionsChecks(app).validateScope(app);
    const findings = report.violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
    );
    const excepted = exceptions.map(({ path, rule }) => `${path} AwsSolutions-${rule}`);
    expect(findings.filter((finding) => !excepted.includes(finding))).toEqual([]);
    expect(excepted.filter((exception) => !findings.includes(exception))).toEqual([]);
  },
);
