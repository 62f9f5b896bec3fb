// The same tests on LocalStack: npm run test:localstack.
import base from '../../jest.config.mjs';

const fromHere = (path) => new URL(path, import.meta.url).pathname;

export default {
  ...base,
  rootDir: fromHere('.'),
  reporters: ['default', [fromHere('../../scripts/count-reporter.cjs'), { name: 'localstack' }]],
};
