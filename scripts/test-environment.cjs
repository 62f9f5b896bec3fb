// Jest's environment for Node, with a function for the modules that share-module.cjs shares.
const { TestEnvironment } = require('jest-environment-node');

// A shared module reads the environment of the worker process, and not the copy that a test file may change.
process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global[Symbol.for('pasteflow.loadShared')] = (file) => require(file);
  }
};
