import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { constants, Script } from 'node:vm';

type CommonJsModule = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  file: string,
  folder: string,
) => void;

/** The variable of the environment with which a process keeps its code even when there is kept code. */
export const REPLACE_COMPILED = 'REPLACE_COMPILED_CODE';

/**
 * Runs a bundle with the code that V8 has compiled in an earlier process. A process that finds none, and ends by itself, keeps
 * its code beside the bundle. Node's own compile cache (NODE_COMPILE_CACHE) has only what V8 compiles before it runs a file:
 * the functions of a service are then compiled anew at each start, which is a quarter of the CPU time of a start.
 */
export function loadBundle(file: string): void {
  // V8 refuses code that it has compiled with other options.
  const compiled = `${file}.${cachedDataVersionTag()}`;
  const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined;
  const script = new Script(Module.wrap(readFileSync(file, 'utf8')), {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  const run = script.runInThisContext() as CommonJsModule;
  run(module.exports, createRequire(file), module, file, dirname(file));
  const isUsed = script.cachedDataRejected === false;
  // oxlint-disable-next-line node/no-process-env -- set by bundle-main.ts
  if (!isUsed || process.env[REPLACE_COMPILED] === 'true')
    process.once('exit', () => keepCompiled(script, compiled));
}

/**
 * Several processes may end at the same time, and others read the file. A process without kept code is slower and no
 * different: a full disk must not change its exit code.
 */
function keepCompiled(script: Script, compiled: string): void {
  const making = `${compiled}.${process.pid}`;
  try {
    writeFileSync(making, script.createCachedData());
    renameSync(making, compiled);
  } catch {
    rmSync(making, { force: true });
  }
}
