// The same tests on LocalStack: npm run test:localstack.
import base from '../../jest.config.mjs';

const fromHere = (path) => new URL(path, import.meta.url).pathname;

export default {
  ...base,
  rootDir: fromHere('.'),
  testMatch: [
    ...base.testMatch,
    // npm test leaves these to npm run test:faults, test:observability and test:volume.
    '<rootDir>/test/*.{faults,observability}.ts',
    '<rootDir>/test/{backup-and-restore,deletion,jobs-takeover,kill-everything,poison-paste,round-trips,same-message-many-times}.volume.ts',
  ],
  reporters: ['default', [fromHere('../../scripts/count-reporter.cjs'), { name: 'localstack' }]],
};
