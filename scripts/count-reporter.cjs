// Jest reporter: leaves the counts of a package's run in its .test-results/, which turbo caches and restores with
// the task, so that `scripts/count-tests.mjs` is right for replayed results too. With an option `name`, for a
// run that is no package's own test, in the root's .test-results/NAME/.
const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

module.exports = class CountReporter {
  constructor(globalConfig, { name } = {}) {
    this.folder = name
      ? join(__dirname, '..', '.test-results', name)
      : join(globalConfig.rootDir, '.test-results');
  }

  onRunComplete(_contexts, results) {
    // A file that doesn't load has no tests to fail, but must not vanish from the sum.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    mkdirSync(this.folder, { recursive: true });
    const counts = { passed: results.numPassedTests, failed, skipped };
    writeFileSync(join(this.folder, 'counts.json'), `${JSON.stringify(counts)}\n`);
  }
};
