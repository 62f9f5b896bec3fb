// Smallest TypeScript transform for jest: Node's own type stripping keeps line and column, so no source map
// is needed.
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { stripTypeScriptTypes } = require('node:module');

const thisFile = readFileSync(__filename);

module.exports = {
  process: (code) => ({ code: stripTypeScriptTypes(code) }),
  // The output depends on nothing else: not on jest's config, nor on the file's path.
  getCacheKey: (code) =>
    createHash('sha256').update(process.version).update(thisFile).update(code).digest('hex'),
};
