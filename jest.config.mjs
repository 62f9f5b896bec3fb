// One config for every package: jest --config ../../jest.config.mjs --rootDir .
const fromRoot = (path) => new URL(path, import.meta.url).pathname;

/**
 * Modules that a worker process loads once for all its test files: see share-module.cjs. They keep no state that one test
 * file could leave to the next: OpenTelemetry keeps a provider only where the SDK is started, which no test does in its own
 * process.
 */
const SHARED_DEPENDENCIES = [
  '@aws-sdk/[^/]+',
  '@fastify/busboy',
  '@opentelemetry/[^/]+',
  '@seriousme/[^/]+',
  'ajv',
  'express',
  'fauxqs',
  'ipaddr.js',
  'jose',
  'kysely',
  'pg',
  'prom-client',
  'rate-limiter-flexible',
  'tar-stream',
  'winston',
  'yauzl',
  'yazl',
  'zod',
  'zod-openapi',
];
const SHARED = [
  `/node_modules/(${SHARED_DEPENDENCIES.join('|')})/.*\\.[cm]?js$`,
  '/(packages|services)/[^/]+/src/.*\\.ts$',
  // To build the OpenAPI document and to compile its schemas takes a fifth of the CPU time of a file of the api's tests.
  '/services/api/test/support/document\\.ts$',
];

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    [SHARED.join('|')]: fromRoot('./scripts/share-module.cjs'),
    '\\.ts$': fromRoot('./scripts/strip-types.cjs'),
  },
  transformIgnorePatterns: [],
  testEnvironment: fromRoot('./scripts/test-environment.cjs'),
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] }, // workspace packages straight from src
  testTimeout: 120_000, // for tests that hang: a busy machine takes many times as long as an idle one
  maxWorkers: 2,
  forceExit: false, // a test file that leaves a handle open has to be mended, and fails the run a minute after its tests
  globalSetup: fromRoot('./scripts/shared-postgres.mjs'),
  globalTeardown: fromRoot('./scripts/tear-down.mjs'),
  cacheDirectory: fromRoot('./node_modules/.cache/jest'),
  reporters: ['default', fromRoot('./scripts/count-reporter.cjs')],
};
