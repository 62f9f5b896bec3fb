import { loadAssets } from '@pasteflow/web';

/** Read when the process starts, so that a build that is missing is an error of the start. */
export const assets = loadAssets();
