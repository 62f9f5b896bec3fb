// Jest's order of test files. On a clean checkout Jest knows no durations and starts the largest files first, so that a slow
// small one may start last, and runs alone at the end. These take half a minute or more on a quiet machine.
const { createRequire } = require('node:module');

const SLOW = [
  'infra/test/images.test', // builds the services as the Dockerfile does
  'start-main.faults',
  'upgrade.faults',
  'follow-sources.faults',
  'jobs-kills.volume',
  'jobs-export.volume',
  'jobs-takeover.volume',
  'pairs.volume',
  'requests-refused.browser',
];

const core = createRequire(require.resolve('jest')).resolve('@jest/core');
const { default: TestSequencer } = createRequire(core)('@jest/test-sequencer');

module.exports = class SlowFirst extends TestSequencer {
  sort(tests) {
    const isSlow = ({ path }) => SLOW.some((name) => path.includes(`/${name}.`));
    const sorted = super.sort(tests);
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
};
