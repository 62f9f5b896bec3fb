import { setTimeout as sleep } from 'node:timers/promises';
import { ECSClient } from '@aws-sdk/client-ecs';
import { stages } from './configuration.ts';
import { configurations } from './configurations.ts';
import { readTarget, runTask } from './run-task.ts';

/**
 * `npm run migrate -- STAGE`: run it after `cdk deploy --outputs-file dist/outputs.json` of the migration
 * stack, and before the deployment of the services.
 */
const stage = stages.find((name) => name === process.argv[2]);
if (stage === undefined) {
  process.stderr.write(`usage: npm run migrate -- ${stages.join('|')}\n`);
  process.exit(64);
}
try {
  await runTask({
    ecs: new ECSClient({ region: configurations[stage].region }),
    target: readTarget(stage),
    wait: () => sleep(5000),
    patience: 720, // an hour
  });
  process.stdout.write('the schema is up to date\n');
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
