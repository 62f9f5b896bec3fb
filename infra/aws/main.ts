import { parseArgs } from 'node:util';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stages } from './configuration.ts';
import { configurations } from './configurations.ts';
import { deploy, featureFlags } from './deployment.ts';
import { acknowledge, nagExceptions } from './nag-exceptions.ts';
import { elsewhere, placeholders } from './placeholders.ts';

/**
 * `npm run synth -- --stage production --image-tag 1.2.3`: writes dist/STAGE, for `cdk deploy --app
 * dist/STAGE`. Makes no request to AWS.
 */
const { values } = parseArgs({ options: { stage: { type: 'string' }, 'image-tag': { type: 'string' } } });
const stage = stages.find((name) => name === values.stage);
const imageTag = values['image-tag'];
if (stage === undefined || imageTag === undefined) {
  process.stderr.write(`usage: npm run synth -- --stage ${stages.join('|')} --image-tag TAG\n`);
  process.exit(64);
}
const left = placeholders(configurations[stage]);
if (left.length > 0) {
  process.stderr.write(
    `${stage} still has what the example has in ${left.join(', ')}: write your own into infra/aws/configurations.ts\n`,
  );
  process.exit(78);
}
const apart = elsewhere(configurations[stage]);
if (apart.length > 0) {
  const { region } = configurations[stage];
  process.stderr.write(`${stage} is in ${region}, and these are not: ${apart.join(', ')}\n`);
  process.exit(78);
}
const app = new App({ outdir: `dist/${stage}`, analyticsReporting: false, context: featureFlags });
deploy(app, configurations[stage], imageTag);
acknowledge(app, nagExceptions(configurations[stage]));
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
app.synth();
