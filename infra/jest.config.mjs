import base from '../jest.config.mjs';

const here = new URL('.', import.meta.url).pathname;

export default { ...base, rootDir: here, roots: [`${here}test`], testTimeout: 120_000 };
