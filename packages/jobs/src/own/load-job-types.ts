import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobType as OwnJobType, Log } from '@pasteflow/job';
import { checkJobTypes, JobTypeProblem, messageOf } from '@pasteflow/job/host';
import { UPLOADS, WEBHOOKS } from '@pasteflow/postgres';
import { z } from 'zod';
import { WorkFailedError, type JobType } from '../job-type.ts';
import { jobTypes } from '../job-types.ts';
import { fromOwn } from './own-job-type.ts';

const reserved: ReadonlyMap<string, string> = new Map([
  ...[...jobTypes.keys()].map((name) => [name, 'Pasteflow has one of this name'] as const),
  ...[UPLOADS, WEBHOOKS].map((name) => [name, `operators pause ${name} by this name`] as const),
]);

/**
 * The job types of this process: those of Pasteflow, and those of the file of an operator's own, whose code then
 * runs with the rights of the process.
 * @param path the setting JOB_TYPES; null: there is no such file
 * @param refuse makes the error that ends the start
 */
export async function loadJobTypes(
  path: string | null,
  log: Log,
  refuse: (problem: string) => Error,
): Promise<ReadonlyMap<string, JobType>> {
  if (path === null) return jobTypes;
  const problem = problemOf(path);
  if (problem !== null) throw refuse(problem);
  let own: readonly OwnJobType[];
  try {
    own = await readOwn(path, log);
  } catch (error) {
    if (!(error instanceof JobTypeProblem)) throw error;
    throw refuse(`names ${path}, which ${error.message}`);
  }
  log.info('own job types loaded', { file: path, job_types: own.map(({ name }) => name) });
  return new Map([...jobTypes, ...own.map((type) => [type.name, fromOwn(type)] as const)]);
}

const EXAMPLE = '/etc/pasteflow/job-types.mjs';

/** What forbids the file, or null. It is code that the service runs: whoever writes it has the service's rights. */
function problemOf(path: string): string | null {
  if (!isAbsolute(path)) return `is ${JSON.stringify(path)}; set it to an absolute path, like ${EXAMPLE}`;
  const wrong = (what: string): string => `names ${path}, ${what}`;
  let file: string;
  try {
    file = realpathSync(path); // the files of a ConfigMap are links
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return wrong(
      code === 'ENOENT'
        ? 'which does not exist; mount the file there, or leave JOB_TYPES out'
        : `which cannot be read (${code}); give the service the right to read it and its folders`,
    );
  }
  if (!statSync(file).isFile()) return wrong('which is no file; name the file itself, like own.mjs');
  const open = [file, dirname(file), dirname(path)].find(mayBeWrittenByOthers);
  return open === undefined
    ? null
    : wrong(`but others may write to ${open}; take that away with: chmod go-w ${open}`);
}

/** Nobody writes to a mount that is read-only, such as a ConfigMap, whatever its mode says. */
function mayBeWrittenByOthers(path: string): boolean {
  if ((statSync(path).mode & 0o022) === 0) return false;
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EROFS';
  }
}

/** @throws JobTypeProblem */
async function readOwn(path: string, log: Log): Promise<readonly OwnJobType[]> {
  const { default: exported } = await importOwn(path);
  return await checkJobTypes(exported, { z, defineJobType: (type) => type, WorkFailedError, log }, reserved);
}

async function importOwn(path: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  } catch (error) {
    throw new JobTypeProblem(whyNotLoaded(path, error), { cause: error });
  }
}

function whyNotLoaded(path: string, error: unknown): string {
  const { code, name, stack = '' } = error as NodeJS.ErrnoException;
  const message = messageOf(error);
  if (code === 'ERR_MODULE_NOT_FOUND')
    return `imports what is not there: ${message}; bundle the file, for example with esbuild`;
  if (name !== 'SyntaxError') return `throws when it is loaded: ${message}`;
  const [, line] =
    /^\S*:(\d+)$/m.exec(code === 'ERR_INVALID_TYPESCRIPT_SYNTAX' ? stack : checked(path)) ?? [];
  return `is no valid JavaScript${line === undefined ? '' : ` in line ${line}`}: ${message}`;
}

/** What Node says of the file. The error of an import does not tell its line. */
function checked(path: string): string {
  return spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', env: {} }).stderr;
}
