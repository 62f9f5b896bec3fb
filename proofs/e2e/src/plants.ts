import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { spawnProgram } from '@pasteflow/dev-stack/testing';
import { ROOT } from './entries.ts';

/** A fault of the kind that people make, and the proof that finds it: the header of `plants/NAME.patch`. */
export interface Plant {
  readonly name: string;
  readonly fault: string;
  /** The arguments of `npm run proof --`, as a shell reads them. */
  readonly proof: string;
  /** Matches the violation that the proof prints. */
  readonly finds: RegExp;
}

/** What a proof has printed and how it has ended. */
export interface ProofRun {
  readonly lines: readonly string[];
  /** null: it was ended at the limit. */
  readonly code: number | null;
  readonly seconds: number;
}

const FOLDER = join(ROOT, 'proofs/plants');
const patchOf = ({ name }: Plant): string => join(FOLDER, `${name}.patch`);

export function readPlants(): readonly Plant[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map((file) => {
      const header = /^Fault: (.+)\nProof: (.+)\nFinds: (.+)\n/.exec(
        readFileSync(join(FOLDER, file), 'utf8'),
      );
      const [, fault = '', proof = '', finds = ''] = header ?? [];
      if (finds === '') throw new Error(`${file} does not begin with the lines Fault, Proof and Finds.`);
      return { name: basename(file, '.patch'), fault, proof, finds: new RegExp(finds) };
    });
}

/** Applies the fault to a folder with the sources. @throws when it does not fit them any more */
export function plant(fault: Plant, folder: string, ...options: string[]): void {
  // Otherwise git looks for the files in a repository that the folder lies in.
  const ceiling = `GIT_CEILING_DIRECTORIES=${dirname(folder)}`;
  const { status, stderr } = spawnSync('env', [ceiling, 'git', 'apply', ...options, patchOf(fault)], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${fault.name}.patch does not apply to the sources:\n${stderr}`);
}

/** Runs a proof on a copy of the sources that has the fault; null: none. */
export async function runProof(
  proof: string,
  fault: Plant | null,
  { limitSeconds }: { readonly limitSeconds: number },
): Promise<ProofRun> {
  const copy = mkdtempSync(join(tmpdir(), 'pasteflow-plant-'));
  try {
    const isLeftOut = (path: string): boolean => /^(\.git|\.pasteflow|(infra\/)?node_modules)$/.test(path);
    cpSync(ROOT, copy, {
      recursive: true,
      verbatimSymlinks: true, // the packages of the workspace find each other in the copy
      filter: (path) => !isLeftOut(path.slice(ROOT.length)),
    });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    mkdirSync(join(copy, 'tmp'));
    if (fault !== null) plant(fault, copy);
    return await run(proof, copy, limitSeconds);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function run(proof: string, folder: string, limitSeconds: number): Promise<ProofRun> {
  const startedAt = performance.now();
  const script = `TMPDIR=$0/tmp exec "$0/scripts/proof" ${proof} 2>&1`; // the shell reads the quotes of the proof
  const program = spawnProgram(['sh', '-c', script, folder]);
  const limit = setTimeout(() => program.kill('SIGKILL'), limitSeconds * 1000);
  const { code } = await program.exited.finally(() => clearTimeout(limit));
  return { lines: program.stdout, code, seconds: Math.round((performance.now() - startedAt) / 1000) };
}
