// turbo with what this repository always wants: no telemetry, two tasks at a time unless the caller says
// otherwise (integration tests wait more than they compute), all results even when one fails, and no
// replaying of results that someone else's server gave.
import { spawnSync } from 'node:child_process';

const external = ['DATABASE_URL', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL_SQS'];
const unrepeatable = external.some((name) => process.env[name]) || process.env['PASTEFLOW_STACK'] === 'aws';

const args = process.argv.slice(2);
const isLimited = args.some((arg) => arg.startsWith('--concurrency='));

const result = spawnSync(
  'turbo',
  [
    'run',
    ...args,
    ...(isLimited ? [] : ['--concurrency=2']),
    '--continue',
    '--output-logs=new-only',
    ...(unrepeatable ? ['--force'] : []),
  ],
  { stdio: 'inherit', env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' } },
);
process.exit(result.status ?? 1);
