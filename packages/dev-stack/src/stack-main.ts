import { startEmbeddedStack } from './embedded-stack.ts';
import { aborted, runMain } from './run-main.ts';
import { readStackConfig } from './stack-config.ts';

/** `npm run stack` runs the embedded Postgres, S3 and SQS in the foreground until Ctrl-C. */
const print = (line: string) => process.stdout.write(`${line}\n`);

await runMain(async (stop) => {
  const stack = await startEmbeddedStack(readStackConfig(process.env), { postgres: true, aws: true }, print);
  print(`Postgres      ${stack.environment.DATABASE_URL}`);
  print(`S3 and SQS    ${stack.environment.AWS_ENDPOINT_URL}`);
  print(`\nTo use them:  set -a; . ${stack.envFile}; set +a`);
  print('Ctrl-C stops them. The data is kept.');
  await aborted(stop);
  print('stopping …');
  await stack.stop();
});
