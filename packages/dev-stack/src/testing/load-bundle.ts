import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
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

/**
 * Runs a bundle with the code that V8 has compiled in an earlier process. The first process that ends by itself keeps its
 * code beside the bundle. Node's own compile cache (NODE_COMPILE_CACHE) has only what V8 compiles before it runs a file:
 * the functions of a service are then compiled anew at each start, which is a third of the CPU time of a start.
 */
export function loadBundle(file: string): void {
  // V8 refuses code that it has compiled with other options.
  const compiled = `${file}.${cachedDataVersionTag()}`;
  const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined;
  const script = new Script(Module.wrap(readFileSync(file, 'latin1')), {
    filename: file,
    ...(cachedData && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  const run = script.runInThisContext() as CommonJsModule;
  run(module.exports, createRequire(file), module, file, dirname(file));
  if (cachedData === undefined) process.once('exit', () => keepCompiled(script, compiled));
}

/** Several processes may end at the same time, and others read the file. */
function keepCompiled(script: Script, compiled: string): void {
  const making = `${compiled}.${process.pid}`;
  writeFileSync(making, script.createCachedData());
  renameSync(making, compiled);
}
