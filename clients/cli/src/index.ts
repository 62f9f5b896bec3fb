/** The package for npm, which the api serves. Only a build has the file. */
export const packedClient = new URL('../dist/pasteflow.tgz', import.meta.url);
