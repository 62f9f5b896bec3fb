import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// A test of types: a state is added to each machine in a copy of the sources, and the compiler has to name
// every place that must know the state. The test is here because the api depends on all of those places.

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A new open state of each machine, and the files that must not compile before they know the state. */
const additions = [
  {
    machine: 'paste-upload',
    state: 'SCANNING',
    next: 'PROCESSED',
    mustKnow: [
      'packages/domain/test/machines.test.ts',
      'packages/jobs/src/content/read-content.ts',
      'packages/postgres/src/monitoring/state-figures.ts',
      'packages/postgres/src/pastes/list-pastes.ts',
      'packages/postgres/src/testing/make-pastes.ts',
      'packages/postgres/test/support/state-rows.ts',
      'services/api/src/pastes/read-content.ts',
    ],
  },
  {
    machine: 'paste-deletion',
    state: 'RETAINED',
    next: 'NOT_EXPIRED',
    mustKnow: [
      'packages/domain/test/machines.test.ts',
      'packages/postgres/src/monitoring/state-figures.ts',
      'packages/postgres/test/support/state-rows.ts',
    ],
  },
  {
    // The gauges of jobs are generated from the table.
    machine: 'job',
    state: 'paused',
    next: 'processing',
    mustKnow: [
      'packages/domain/test/machines.test.ts',
      'packages/postgres/src/testing/make-jobs.ts',
      'packages/postgres/test/support/state-rows.ts',
    ],
  },
  {
    machine: 'task-execution',
    state: 'SUSPENDED',
    next: 'RUNNING',
    mustKnow: [
      'packages/domain/test/machines.test.ts',
      'packages/postgres/src/monitoring/state-figures.ts',
      'packages/postgres/src/testing/made-executions.ts',
      'packages/postgres/test/support/state-rows.ts',
    ],
  },
];

const compiled = [
  'packages/domain/{src,test}/**/*.ts',
  'packages/postgres/src/**/*.ts',
  'packages/postgres/test/support/state-rows.ts',
  'packages/jobs/src/content/*.ts',
  'services/api/src/pastes/read-content.ts',
];

let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'pasteflow-states-'));
  // The links of the workspace are relative: those of the copy lead to packages of the copy.
  for (const path of globSync('{packages,services}/*/{src,test,package.json,node_modules}', { cwd: root }))
    cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
  for (const file of ['package.json', 'tsconfig.base.json', 'tsconfig.tests.json'])
    cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});

afterEach(() => rmSync(copy, { recursive: true }));

function addState({ machine, state, next }: (typeof additions)[number]): void {
  const file = join(copy, `packages/domain/src/machines/${machine}.ts`);
  const table = readFileSync(file, 'utf8');
  const added = table.replace(
    /^ {2}states: \{\n/m,
    `$&    ${state}: { meaning: 'added', to: ['${next}'] },\n`,
  );
  expect(added).not.toBe(table);
  writeFileSync(file, added);
}

function compilerErrors(): readonly string[] {
  const config = {
    extends: './tsconfig.tests.json',
    compilerOptions: { incremental: false, tsBuildInfoFile: null },
    include: [],
    files: globSync(compiled, { cwd: copy }),
  };
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(root, 'node_modules/.bin/tsc');
  expect(existsSync(compiler)).toBe(true);
  // One checker, and few collections of garbage, as `npm run typecheck`: several checkers each check the
  // types that their files share.
  const { stdout, stderr } = spawnSync(compiler, ['--pretty', 'false', '--checkers', '1'], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, GOGC: '400' },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => /^\S+\(\d+,\d+\): error/.test(line));
}

it('a state that is added to a machine does not compile in any place that must know the state', () => {
  for (const addition of additions) addState(addition);
  const errors = compilerErrors();
  const filesThatName = (state: string) =>
    errors
      .filter((line) => line.includes(`'${state}'`) || line.includes(`"${state}"`))
      .map((line) => line.slice(0, line.indexOf('(')));
  for (const { machine, state, mustKnow } of additions)
    expect({ machine, files: [...new Set(filesThatName(state))].toSorted() }).toEqual({
      machine,
      files: mustKnow,
    });
}, 180_000);
