// `npm run build:single`: the command line client and a Node in one executable, for the platform of the
// build.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Becomes a part of the executable. The Node of this repository has no --build-sea, which came with Node
 * 25.5.
 */
const NODE = 'node@26.10.0';

const folder = fileURLToPath(new URL('.', import.meta.url));
const output = resolve(process.argv[2] ?? join(folder, 'dist/single'));
const work = mkdtempSync(join(tmpdir(), 'pasteflow-single-'));
try {
  execFileSync(process.execPath, [join(folder, 'build.ts'), join(work, 'package')], { stdio: 'inherit' });
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const configuration = {
    main: join(work, 'package/pasteflow.mjs'),
    mainFormat: 'module',
    output: join(output, process.platform === 'win32' ? 'pasteflow.exe' : 'pasteflow'),
    disableExperimentalSEAWarning: true,
  };
  writeFileSync(join(work, 'single.json'), JSON.stringify(configuration));
  // npm downloads this Node when it is not there yet.
  execFileSync(
    'npx',
    ['--yes', `--package=${NODE}`, '--', 'node', '--build-sea', join(work, 'single.json')],
    {
      cwd: work, // a local node_modules has another Node
      env: environmentOfNpx(),
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  // The signature of Node no longer fits, and macOS starts no program whose signature is wrong.
  if (process.platform === 'darwin')
    execFileSync('codesign', ['--force', '--sign', '-', configuration.output], { stdio: 'inherit' });
  process.stdout.write(`${configuration.output}\n`);
} finally {
  rmSync(work, { recursive: true });
}

/** Without what npm says in the environment about the script that runs. */
function environmentOfNpx(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_(lifecycle|package)_|NODE_OPTIONS$)/.test(name)),
  );
}
