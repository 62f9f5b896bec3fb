// What is measured, with the machine to itself: npm run test:scaling.
import base from '../../jest.config.mjs';

const fromHere = (path) => new URL(path, import.meta.url).pathname;

export default {
  ...base,
  rootDir: fromHere('.'),
  testMatch: ['<rootDir>/test/**/*.measure.ts'],
  maxWorkers: 1,
  reporters: ['default', [fromHere('../../scripts/count-reporter.cjs'), { name: 'scaling' }]],
};
