import { parseArgs } from 'node:util';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stages } from './configuration.ts';
import { configurations } from './configurations.ts';
import { deploy, featureFlags } from './deployment.ts';
import { acknowledge, nagExceptions } from './nag-exceptions.ts';
import { mistakes } from './mistakes.ts';

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
const wrong = mistakes(configurations[stage]);
if (wrong.length > 0) {
  process.stderr.write(`${wrong.join('\n')}\n`);
  process.exit(78);
}
const app = new App({ outdir: `dist/${stage}`, analyticsReporting: false, context: featureFlags });
deploy(app, configurations[stage], imageTag);
acknowledge(app, nagExceptions(configurations[stage]));
Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
app.synth();
