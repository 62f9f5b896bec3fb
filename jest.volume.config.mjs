// Tests that prove a property by volume: npm run test:volume. They take minutes of CPU time, so npm test leaves them to CI.
import base from './jest.config.mjs';

const fromRoot = (path) => new URL(path, import.meta.url).pathname;

process.env.TEST_SERVICES_MEMORY = 'measured'; // services with the memory that they have elsewhere, see service-bundles.ts

export default {
  ...base,
  rootDir: fromRoot('.'),
  roots: [fromRoot('packages'), fromRoot('services')],
  testMatch: ['**/test/**/*.volume.ts'],
  reporters: ['default', [fromRoot('scripts/count-reporter.cjs'), { name: 'volume' }]],
};
