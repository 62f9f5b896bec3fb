// The longer proofs that npm test leaves to CI, because they take minutes of CPU time: npm run test:volume, and, by another
// --testMatch, test:faults, test:observability and others.
import base from './jest.config.mjs';

const fromRoot = (path) => new URL(path, import.meta.url).pathname;

export default {
  ...base,
  rootDir: fromRoot('.'),
  roots: [fromRoot('packages'), fromRoot('services')],
  testMatch: ['**/test/**/*.volume.ts'],
  reporters: ['default', [fromRoot('scripts/count-reporter.cjs'), { name: 'volume' }]],
};
