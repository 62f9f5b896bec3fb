// openapi-typescript reads TypeScript's compiler API, which version 7 doesn't have: it gets a TypeScript 5 of its own.
module.exports = {
  hooks: {
    readPackage(manifest) {
      if (manifest.name === 'openapi-typescript') {
        delete manifest.peerDependencies.typescript;
        manifest.dependencies.typescript = '5.9.3';
      }
      return manifest;
    },
  },
};
