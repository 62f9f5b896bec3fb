import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobType as OwnJobType, Log } from '@pasteflow/job';
import { checkJobTypes, JobTypeProblem, messageOf } from '@pasteflow/job/host';
import { UPLOADS, WEBHOOKS } from '@pasteflow/postgres';
import { z } from 'zod';
import { WorkFailedError, type JobType } from '../job-type.ts';
import { jobTypes } from '../job-types.ts';
import { fromOwn } from './own-job-type.ts';
import { watchThread } from './watch-thread.ts';

const reserved: ReadonlyMap<string, string> = new Map([
  ...[...jobTypes.keys()].map((name) => [name, 'Pasteflow has one of this name'] as const),
  ...[UPLOADS, WEBHOOKS].map((name) => [name, `operators pause ${name} by this name`] as const),
]);

/** Shorter than the patience of a liveness probe, which ends the process without a word. */
const MAX_SECONDS = 20;

/**
 * The job types of this process: those of Pasteflow, and those of the file of an operator's own, whose code then
 * runs with the rights of the process.
 * @param path the setting JOB_TYPES; null: there is no such file
 * @param refuse makes the error that ends the start
 * @param maxSeconds how long the file may load, and its code may keep the thread
 */
export async function loadJobTypes(
  path: string | null,
  log: Log,
  refuse: (problem: string) => Error,
  maxSeconds = MAX_SECONDS,
): Promise<ReadonlyMap<string, JobType>> {
  if (path === null) return jobTypes;
  const checked = checkedFile(path);
  if ('problem' in checked) throw refuse(checked.problem);
  watchThread(maxSeconds, checked.file, log);
  let own: readonly OwnJobType[];
  try {
    own = await within(maxSeconds, readOwn(checked.file, log));
  } catch (error) {
    if (!(error instanceof JobTypeProblem)) throw error;
    throw refuse(`names ${path}, which ${error.message}`);
  }
  log.info('own job types loaded', { file: path, job_types: own.map(({ name }) => name) });
  return new Map([...jobTypes, ...own.map((type) => [type.name, fromOwn(type)] as const)]);
}

const EXAMPLE = '/etc/pasteflow/job-types.mjs';

/**
 * The file without links, or what forbids it. The service runs its code: a user who can write the file, or replace it by
 * a link or by a folder further up, has the rights of the service.
 */
function checkedFile(path: string): { readonly file: string } | { readonly problem: string } {
  if (!isAbsolute(path))
    return { problem: `is ${JSON.stringify(path)}; set it to an absolute path, like ${EXAMPLE}` };
  const wrong = (what: string) => ({ problem: `names ${path}, ${what}` });
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
  const open =
    [file, dirname(file), dirname(path)].find((each) => mayBeWritten(each, 0o022)) ??
    [...foldersAbove(file), ...foldersAbove(path)].find(
      (each) => !isSticky(each) && mayBeWritten(each, 0o002), // the group of a home is often that of one person
    );
  return open === undefined
    ? { file }
    : wrong(`but others may write to ${open}; take that away with: chmod go-w ${open}`);
}

/** Those above the folder of the file. */
function foldersAbove(file: string): readonly string[] {
  const folder = dirname(dirname(file));
  return folder === dirname(folder) ? [folder] : [folder, ...foldersAbove(join(folder, 'each'))];
}

/** In a folder like /tmp, others replace nothing that is not theirs. */
function isSticky(path: string): boolean {
  return (statSync(path).mode & 0o1000) !== 0;
}

/** Nobody writes to a mount that is read-only, such as a ConfigMap, whatever its mode says. */
function mayBeWritten(path: string, byOthers: number): boolean {
  if ((statSync(path).mode & byOthers) === 0) return false;
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EROFS';
  }
}

/** The timer also keeps the process alive, which would otherwise end with a warning of Node. */
async function within<T>(seconds: number, loading: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>();
  const problem = `has not loaded within ${seconds} s; what it awaits when it is loaded, or when its default export is called, does not end`;
  const timer = setTimeout(() => over.reject(new JobTypeProblem(problem)), seconds * 1000);
  return await Promise.race([loading, over.promise]).finally(() => clearTimeout(timer));
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
  if (message.startsWith('Dynamic require of'))
    return `bundles a package in CommonJS: ${message}; bundle the file with the banner that docs/tutorial.md shows`;
  if (name !== 'SyntaxError') return `throws when it is loaded: ${message}`;
  const [, line] =
    /^\S*:(\d+)$/m.exec(code === 'ERR_INVALID_TYPESCRIPT_SYNTAX' ? stack : checked(path)) ?? [];
  return `is no valid JavaScript${line === undefined ? '' : ` in line ${line}`}: ${message}`;
}

/** What Node says of the file. The error of an import does not tell its line. */
function checked(path: string): string {
  return spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', env: {} }).stderr;
}
