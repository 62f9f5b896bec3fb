// One config for every package: jest --config ../../jest.config.mjs --rootDir .
const fromRoot = (path) => new URL(path, import.meta.url).pathname;

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': fromRoot('./scripts/strip-types.cjs') },
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] }, // workspace packages straight from src
  testTimeout: 120_000, // for tests that hang: a busy machine takes many times as long as an idle one
  maxWorkers: 2,
  forceExit: false, // a test file that leaves a handle open has to be mended
  cacheDirectory: fromRoot('./node_modules/.cache/jest'),
  reporters: ['default', fromRoot('./scripts/count-reporter.cjs')],
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts'],
};
