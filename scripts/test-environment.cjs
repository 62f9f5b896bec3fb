// Jest's environment for Node, with a function for the modules that share-module.cjs shares.
const { TestEnvironment } = require('jest-environment-node');

// A shared module reads the environment of the worker process, and not the copy that a test file may change.
process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

// Tests start services from bundles, with half the CPU time. TEST_SERVICES_FROM=sources starts them as npm start does.
process.env.TEST_SERVICES_FROM ??= 'bundles';

module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global[Symbol.for('pasteflow.loadShared')] = (file) => require(file);
  }
};
