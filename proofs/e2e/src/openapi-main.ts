// `npm run proof -- openapi`: Schemathesis generates requests for every operation of the OpenAPI document,
// valid and invalid ones, sends them to a running api, and compares each answer with the document.
import { parseArgs } from 'node:util';
import { startCluster } from './cluster.ts';
import { runSchemathesis } from './schemathesis.ts';

const { values } = parseArgs({
  options: {
    examples: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const env = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
  RATE_LIMIT_BYTES_PER_HOUR: '0',
  RATE_LIMIT_ANONYMOUS_BYTES_PER_HOUR: '0',
  MAX_OPEN_JOBS_PER_USER: '1000000',
};
const cluster = await startCluster({ janitors: 0, keepRequests: false, env });
try {
  const user = await cluster.user('schemathesis');
  const { short_code: shortCode } = await user.pastes.create('some content', { wait: true });
  const parameters = { source_short_code: shortCode };
  const { job_id: id } = await user.jobs.create({ job_type: 'import', parameters });
  await user.jobs.wait(id).catch(() => null); // the paste is no archive: the job has failed
  const { isGood, operations, testCases } = await runSchemathesis({
    documentUrl: `${cluster.http().url}/openapi.json`,
    token: user.token,
    maxExamples: Number(values.examples),
    seed: Number(values.seed),
    existing: { short_code: shortCode, id },
  });
  const { tested, total } = operations;
  process.stdout.write(`${testCases} requests to ${tested} of ${total} operations\n`);
  process.exitCode = isGood && tested === total ? 0 : 1;
} finally {
  await cluster.stop();
}
