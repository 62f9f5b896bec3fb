// Jest's environment for Node, for tests whose sources Node loads in its main context: see share-module.cjs.
const { registerHooks } = require('node:module');
const { TestEnvironment } = require('jest-environment-node');

process.env.AWS_ACCESS_KEY_ID ??= 'test';
process.env.AWS_SECRET_ACCESS_KEY ??= 'test';

// Tests start services from bundles, with a third of the CPU time. TEST_SERVICES_FROM=sources starts them as
// npm start does, so that their stack traces name the lines of the sources.
process.env.TEST_SERVICES_FROM ??= 'bundles';

// A shared module takes the packages of the workspace from their sources, as jest.config.mjs says for all others.
registerHooks({
  resolve: (name, context, next) =>
    name.startsWith('@pasteflow/')
      ? next(name, { ...context, conditions: [...context.conditions, 'source'] })
      : next(name, context),
});

/** With classes of its own, a test would find that an error or a date of the sources is not an instance of Error or Date. */
const CLASSES = [
  'AggregateError',
  'Date',
  'Error',
  'Map',
  'RangeError',
  'ReferenceError',
  'Set',
  'SyntaxError',
  'TypeError',
];
/** Jest's fake timers, and a test that sets the clock, replace these for the sources, too. */
const CLOCKS = [
  'Date',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
];

module.exports = class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    for (const name of CLASSES) this.global[name] = globalThis[name];
    for (const name of CLOCKS) shareGlobal(this.global, name);
    this.global.process.env = process.env;
    this.global[Symbol.for('pasteflow.loadShared')] = (file) => require(file);
  }
};

function shareGlobal(global, name) {
  Object.defineProperty(global, name, {
    configurable: true,
    enumerable: true,
    get: () => globalThis[name],
    set: (value) => {
      globalThis[name] = value;
    },
  });
}
