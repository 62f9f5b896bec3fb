// Jest transform for the modules that jest.config.mjs lists. Node loads each of them once in a worker process, and every
// test file gets that one copy. Loading the dependencies for each test file took 15 % of the CPU time of a package's
// tests. Loading the sources, too, took 30 % of the CPU time of the api's.
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');

const thisFile = readFileSync(__filename);

module.exports = {
  process: (_code, file, { supportsStaticESM }) => {
    const shared = `globalThis[Symbol.for('pasteflow.loadShared')](${JSON.stringify(file)})`;
    return {
      code: supportsStaticESM ? asEsModule(shared, exportedNames(file)) : `module.exports = ${shared};`,
    };
  },
  getCacheKey: (code, file, { supportsStaticESM }) =>
    createHash('sha256')
      .update(process.version)
      .update(thisFile)
      .update(`${file} ${supportsStaticESM}`)
      .update(code)
      .digest('hex'),
};

function exportedNames(file) {
  return Object.keys(require(file)).filter((name) => name !== 'default');
}

function asEsModule(shared, names) {
  return [
    `const shared = ${shared};`,
    'export default shared.default;',
    ...names.map((name, n) => `const export${n} = shared.${name};`),
    `export { ${names.map((name, n) => `export${n} as ${name}`).join(', ')} };`,
  ].join('\n');
}
