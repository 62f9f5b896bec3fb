import { setTimeout as sleep } from 'node:timers/promises';
import { ECSClient } from '@aws-sdk/client-ecs';
import { stages } from './configuration.ts';
import { configurations } from './configurations.ts';
import { readTarget, runTask } from './run-task.ts';

/**
 * `npm run task -- STAGE SERVICE ENTRY [ARGUMENT…]`: runs another entry of a service's image once, with the
 * rights and settings of the service.
 */
const [stageName, service, ...words] = process.argv.slice(2);
const stage = stages.find((name) => name === stageName);
if (stage === undefined || service === undefined || words.length === 0) {
  process.stderr.write(`usage: npm run task -- ${stages.join('|')} SERVICE ENTRY [ARGUMENT…]\n`);
  process.exit(64);
}
try {
  await runTask({
    ecs: new ECSClient({ region: configurations[stage].region }),
    target: { ...readTarget(stage), TaskDefinition: `pasteflow-${stage}-${service}` }, // the newest revision
    command: { container: service, words },
    wait: () => sleep(5000),
    patience: 720, // an hour
    started: (id) =>
      process.stdout.write(
        `output: aws logs tail /pasteflow/${stage}/${service} --log-stream-names ${service}/${service}/${id} --format short\n`,
      ),
  });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
