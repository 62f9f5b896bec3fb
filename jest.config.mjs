// One config for every package: jest --config ../../jest.config.mjs --rootDir .
const fromRoot = (path) => new URL(path, import.meta.url).pathname;

// The workers inherit these.
process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';
// Programs that tests call, such as unzip, write the names of files in the encoding of the locale.
process.env.LC_ALL = 'C.UTF-8';
// Tests start services from bundles, with half the CPU time. TEST_SERVICES_FROM=sources starts them as npm
// start does, so that their stack traces name the lines of the sources.
process.env.TEST_SERVICES_FROM ??= 'bundles';

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': fromRoot('./scripts/strip-types.cjs') },
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] }, // workspace packages straight from src
  testTimeout: 120_000, // for tests that hang: a busy machine takes many times as long as an idle one
  maxWorkers: 2,
  // Each test file leaves its ES modules in memory. At the end Node may free them for longer than the 0.5 s that
  // Jest waits, which then says that a worker was "force exited". That alone is no sign of something left open.
  workerIdleMemoryLimit: '1GB',
  globalSetup: fromRoot('./scripts/shared-postgres.mjs'),
  globalTeardown: fromRoot('./scripts/shared-postgres.mjs'),
  cacheDirectory: fromRoot('./node_modules/.cache/jest'),
  reporters: ['default', fromRoot('./scripts/count-reporter.cjs')],
};
