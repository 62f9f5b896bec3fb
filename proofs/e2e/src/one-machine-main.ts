// `npm run proof -- one-machine`: on the programs of infra/one-machine, what is asked of any server of S3 and
// of SQS, the end-to-end tests, and the tests of this edition, which start programs of their own. Arguments
// are parts of the paths of tests, and options of Jest.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CREDENTIALS } from './aws.ts';
import { ROOT } from './entries.ts';
import { elasticMq, installPrograms, versitygw } from './one-machine.ts';

const patterns = [
  '**/{s3,sqs}/test/any-server.servers.ts',
  '**/e2e/test/*.{test,onemachine}.ts',
  '**/e2e/test/{kills,live,poison,private-logs,retries,timeline}.faults.ts',
  '**/e2e/test/{cli,copies,round-trips}.volume.ts',
];

const folder = await mkdtemp(join(tmpdir(), 'pasteflow-one-machine-'));
await Promise.all([mkdir(join(folder, 'objects')), mkdir(join(folder, 'versions'))]);
installPrograms();
const objects = await versitygw(join(folder, 'objects'), join(folder, 'versions'));
const queues = await elasticMq();
try {
  await Promise.all([objects.start(), queues.start()]);
  const jest = ['--config', 'jest.config.mjs', '--rootDir', '.', '--roots', 'packages', 'proofs'];
  const child = spawn(
    'scripts/jest',
    [...jest, '--testMatch', ...patterns, '--maxWorkers', '2', ...process.argv.slice(2)],
    {
      cwd: ROOT,
      stdio: 'inherit',
      env: {
        // oxlint-disable-next-line node/no-process-env -- the environment of the tests
        ...process.env,
        TEST_RUN_NAME: 'one-machine',
        TEST_SERVICES_FROM: 'sources',
        AWS_ENDPOINT_URL_S3: objects.url,
        AWS_ENDPOINT_URL_SQS: queues.url,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      },
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await Promise.all([objects.kill(), queues.kill()]);
  await rm(folder, { recursive: true, force: true });
}
