import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { jobTypes } from '../src/index.ts';

const run = promisify(execFile);
const packageFolder = new URL('..', import.meta.url).pathname;
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** The names that the registry knows when one more folder, with this job-type file, lies beside the others. */
async function namesWith(folder: string, source: string): Promise<string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'pasteflow-jobs-'));
  folders.push(copy);
  await cp(join(packageFolder, 'src'), join(copy, 'src'), { recursive: true });
  await cp(join(packageFolder, 'package.json'), join(copy, 'package.json'));
  await symlink(join(packageFolder, 'node_modules'), join(copy, 'node_modules'));
  await mkdir(join(copy, 'src/types', folder));
  await writeFile(join(copy, 'src/types', folder, 'job-type.ts'), source);
  const script = `const { jobTypes } = await import(${JSON.stringify(join(copy, 'src/registry.ts'))}); console.log(JSON.stringify([...jobTypes.keys()]))`;
  const { stdout } = await run(process.execPath, [
    '--conditions=source',
    '--input-type=module',
    '--eval',
    script,
  ]);
  return JSON.parse(stdout) as string[];
}

/** In two parts, since it is no import of this file. */
const USES_DEFINITION = ['import { defineJobType } from', "'../../job-type.ts'"].join(' ');

const typeNamed = (name: string) =>
  `import { z } from 'zod';
${USES_DEFINITION};
export const jobType = defineJobType({ name: '${name}', summary: 'Counts.', parameters: z.strictObject({}), example: {},
  run: () => Promise.resolve({ status: 'completed', result: {} }) });`;

describe('the registry', () => {
  it('has the types that there are', () => {
    expect([...jobTypes.keys()]).toEqual(['export', 'import']);
  });

  it('has one more when one more folder is there', async () => {
    expect(await namesWith('count', typeNamed('count'))).toEqual(['count', 'export', 'import']);
  });

  it('refuses a type that is not named like its folder', async () => {
    await expect(namesWith('count', typeNamed('sum'))).rejects.toThrow(
      'the job type sum is in the folder count',
    );
  });

  it('has examples that are valid', () => {
    for (const { parameters, example } of jobTypes.values())
      expect(parameters.safeParse(example).success).toBe(true);
  });
});
