// Jest's environment for Node, with a function for the modules that share-module.cjs shares.
const { registerHooks } = require('node:module');
const { TestEnvironment } = require('jest-environment-node');

// A shared module reads the environment of the worker process, and not the copy that a test file may change.
process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

// Tests start services from bundles, with half the CPU time. TEST_SERVICES_FROM=sources starts them as
// npm start does, so that their stack traces name the lines of the sources.
process.env.TEST_SERVICES_FROM ??= 'bundles';

// A shared module takes the packages of the workspace from their sources, as jest.config.mjs says for all others.
registerHooks({
  resolve: (name, context, next) =>
    name.startsWith('@pasteflow/')
      ? next(name, { ...context, conditions: [...context.conditions, 'source'] })
      : next(name, context),
});

module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global[Symbol.for('pasteflow.loadShared')] = (file) => require(file);
  }
};
