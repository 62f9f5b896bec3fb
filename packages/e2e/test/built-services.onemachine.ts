import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { temporaryFolder } from '@pasteflow/dev-stack/testing';
import { ROOT } from '../src/index.ts';

let built: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  built = await temporaryFolder();
  const { status, stdout, stderr } = spawnSync('infra/container/build-services', [built.dataDir], {
    cwd: ROOT,
    encoding: 'utf8',
    // oxlint-disable-next-line node/no-process-env -- what any program needs to run
    env: { ...process.env, PATH: `${ROOT}/node_modules/.bin:${process.env.PATH}` },
  });
  expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
}, 600_000);
afterAll(() => built?.remove());

// The other tests run the sources, or bundles of them.
it.each([
  ['api', 'main', 78],
  ['upload-worker', 'main', 78],
  ['janitor', 'main', 78],
  ['postgres', 'migrate-main', 78],
])('%s finds its modules, and then misses only its settings', (name, entry, expected) => {
  const { status, stderr } = spawnSync(process.execPath, [`${built.dataDir}/${name}/dist/${entry}.js`], {
    env: {},
    encoding: 'utf8',
  });
  expect(stderr).toContain('DATABASE_URL');
  expect(status).toBe(expected);
});
