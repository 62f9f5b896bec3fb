import { startEmbeddedStack } from './embedded-stack.ts';
import { readStackConfig } from './stack-config.ts';
import { aborted, runMain, StackError } from './stack-error.ts';

/**
 * `npm run stack` runs the embedded Postgres, S3 and SQS in the foreground until Ctrl-C, except what the
 * environment names.
 */
const print = (line: string) => process.stdout.write(`${line}\n`);

await runMain(async (stop) => {
  const config = readStackConfig(process.env);
  const parts = { postgres: config.embeddedPostgres, aws: config.embeddedAws };
  if (!parts.postgres && !parts.aws)
    throw new StackError(
      'configuration',
      'There is nothing to run, because the environment names a Postgres (DATABASE_URL) and an S3 and SQS (AWS_ENDPOINT_URL or PASTEFLOW_STACK). Unset these variables, or open another shell.',
    );
  const stack = await startEmbeddedStack(config, parts, print);
  const { DATABASE_URL: databaseUrl, AWS_ENDPOINT_URL: awsUrl } = stack.environment;
  print(`Postgres      ${databaseUrl ?? 'not started, because DATABASE_URL is set'}`);
  print(`S3 and SQS    ${awsUrl ?? 'not started, because the environment names others'}`);
  print(`\nTo use them:  set -a; . ${stack.envFile}; set +a`);
  print('Ctrl-C stops them. The data is kept.');
  await aborted(stop);
  print('stopping …');
  await stack.stop();
});
