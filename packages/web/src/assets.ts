import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { House } from '@pasteflow/domain';

/** A file of the pages, as a browser loads it. Its name has a hash of its bytes, so that it never changes. */
export interface Asset {
  /** The Content-Type. */
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer | null;
  readonly brotli: Buffer | null;
}

/** Written by build.ts. */
export interface AssetManifest {
  /** The file by the name of its source, for instance `paste.js` → `paste-4F2K7Q6A.js`. */
  readonly entries: Readonly<Record<string, string>>;
  readonly files: readonly { readonly name: string; readonly type: string; readonly compressed: boolean }[];
}

export interface Assets {
  /** @throws Error for a name that the build did not write */
  readonly fileOf: (source: string) => string;
  /** The text of the file, by the name of its source. */
  readonly textOf: (source: string) => string;
  readonly find: (file: string) => Asset | null;
  /** Changes when any file, or the house, changes. */
  readonly version: string;
}

/** The same folder from src/ and from dist/. */
const FOLDER = new URL('../dist/assets/', import.meta.url);

/**
 * Reads all files into memory: some 100, of 300 KB together.
 * @throws Error when the build did not run
 */
export function loadAssets(folder: URL = FOLDER): Assets {
  const manifest = JSON.parse(read(folder, 'manifest.json').toString()) as AssetManifest;
  const files = new Map<string, Asset>(
    manifest.files.map(({ name, type, compressed }) => [
      name,
      {
        type,
        bytes: read(folder, name),
        gzip: compressed ? read(folder, `${name}.gz`) : null,
        brotli: compressed ? read(folder, `${name}.br`) : null,
      },
    ]),
  );
  const fileOf = (source: string): string => {
    const file = manifest.entries[source];
    if (file === undefined) throw new Error(`The build of packages/web has no file for ${source}.`);
    return file;
  };
  return {
    fileOf,
    textOf: (source) => files.get(fileOf(source))?.bytes.toString() ?? '',
    find: (file) => files.get(file) ?? null,
    version: Object.values(manifest.entries).toSorted().join(),
  };
}

/** The files with the name and the logo of a house in that of the app, which the build knows nothing of. */
export function assetsOfHouse(assets: Assets, house: House): Assets {
  const source = 'app.webmanifest';
  const built = assets.find(assets.fileOf(source));
  const app = JSON.parse(assets.textOf(source)) as { readonly icons: unknown };
  const { name, logo } = house;
  const icons = logo === null ? app.icons : [{ src: '../logo', sizes: 'any', type: logo.type }];
  const bytes = Buffer.from(JSON.stringify({ ...app, name, icons }));
  const file = `app-${hash('sha256', bytes).slice(0, 8).toUpperCase()}.webmanifest`;
  return {
    ...assets,
    fileOf: (each) => (each === source ? file : assets.fileOf(each)),
    find: (each) =>
      each === file && built !== null ? { ...built, bytes, gzip: null, brotli: null } : assets.find(each),
    version: `${assets.version},${hash('sha256', JSON.stringify(house))}`,
  };
}

function read(folder: URL, name: string): Buffer {
  try {
    return readFileSync(new URL(name, folder));
  } catch (error) {
    throw new Error(
      `The file ${name} of the pages is missing. Build the pages with npm run build, and start again.`,
      { cause: error },
    );
  }
}
