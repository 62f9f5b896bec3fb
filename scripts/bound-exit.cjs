// Ends a run whose tests are over, but whose process goes on because a test left a server, a socket or a timer
// open. That happens mostly after a failure that skipped the cleanup of a test. Without this bound, CI would wait for its own
// limit of an hour or more, and not say which test failed.

/** More than a busy machine takes to close what a test file has told to close. */
const GRACE_MS = 60_000;

module.exports = () => exitWithin(GRACE_MS);
module.exports.exitWithin = exitWithin;

function exitWithin(ms) {
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(
      `The tests ended ${ms} ms ago, but a test file has left something open (${open}). Close it in afterEach or afterAll.\n`,
    );
    process.exit(1);
  }, ms);
  timer.unref(); // a run that leaves nothing open ends at once
}
