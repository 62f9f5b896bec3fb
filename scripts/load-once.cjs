// Jest transform for packages that others wrote: Node itself loads them, once for a worker process. In the sandbox of
// Jest each test file compiles and runs all their modules again, which took a sixth of the CPU time of the api's tests.
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');

const thisFile = readFileSync(__filename);

module.exports = {
  process(_code, path, { supportsStaticESM }) {
    const file = JSON.stringify(path);
    // The sandbox has a process of its own, whose modules are those of the sandbox.
    const load = `runInThisContext('process').getBuiltinModule('node:module').createRequire(${file})(${file})`;
    if (!supportsStaticESM)
      return { code: `const { runInThisContext } = require('node:vm');\nmodule.exports = ${load};` };
    const names = Object.keys(require(path)).filter((name) => name !== 'module.exports');
    const constants = names.map((name, index) => `const export${index} = loaded[${JSON.stringify(name)}];`);
    const exported = names.map((name, index) => `export${index} as ${JSON.stringify(name)}`);
    const lines = [
      "import { runInThisContext } from 'node:vm';",
      `const loaded = ${load};`,
      ...constants,
      `export { ${exported.join(', ')} };`,
    ];
    return { code: lines.join('\n') };
  },
  getCacheKey: (code, path, { supportsStaticESM }) =>
    createHash('sha256')
      .update([process.version, path, supportsStaticESM].join('\n'))
      .update(thisFile)
      .update(code)
      .digest('hex'),
};
