// Jest reporter: leaves the counts of a package's run, and the tests that failed, in its .test-results/,
// which turbo caches and restores with the task, so that `scripts/count-tests.mjs` is right for replayed
// results too. A run that is no package's own test has a name in TEST_RUN_NAME, and leaves them in the root's
// .test-results/NAME/.
const { mkdirSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

/** Enough for the assertion and the lines of the test around it. */
const MAX_MESSAGE_LINES = 30;

module.exports = class CountReporter {
  constructor(globalConfig) {
    const name = process.env.TEST_RUN_NAME;
    this.folder = name
      ? join(__dirname, '..', '.test-results', name)
      : join(globalConfig.rootDir, '.test-results');
  }

  onRunComplete(_contexts, results) {
    // A file that doesn't load has no tests to fail, but must not vanish from the sum.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    mkdirSync(this.folder, { recursive: true });
    const failures = results.testResults.flatMap(failuresOf);
    const counts = { passed: results.numPassedTests, failed, skipped, failures };
    writeFileSync(join(this.folder, 'counts.json'), `${JSON.stringify(counts)}\n`);
  }
};

/** @returns for each failed test of a file: its name, and the first lines of its message, without colours */
function failuresOf({ testFilePath, testResults, testExecError, failureMessage }) {
  const file = relative(join(__dirname, '..'), testFilePath);
  if (testExecError) return [{ name: file, message: shortened(failureMessage ?? testExecError.message) }];
  return testResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => ({
      name: `${file}: ${fullName}`,
      message: shortened(failureMessages.join('\n')),
    }));
}

function shortened(message) {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => !line.includes('node_modules'));
  return lines.slice(0, MAX_MESSAGE_LINES).join('\n');
}
