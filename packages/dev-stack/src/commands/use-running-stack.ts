import { connect } from 'node:net';
import { dataDirOf, readStackFile, stackFileIn } from '../stack-config.ts';

/** The parts of a system that a command can need. */
export type Part = 'postgres' | 'aws';

/** The variables with the address of each part. */
const LOCATIONS: Readonly<Record<Part, readonly string[]>> = {
  postgres: ['DATABASE_URL'],
  aws: ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL_SQS', 'PASTEFLOW_STACK'],
};

/** Where the parts of a command come from. */
export type StackUse =
  /** The environment names all of them. */
  | { readonly kind: 'named' }
  | { readonly kind: 'no-stack'; readonly file: string }
  /** The environment names a part that the running stack also has: nothing is taken from the stack. */
  | { readonly kind: 'another-system'; readonly file: string }
  /**
   * `missing`: parts that neither the environment nor the running stack names. `answers`: whether the stack
   * accepts connections.
   */
  | {
      readonly kind: 'used';
      readonly file: string;
      readonly missing: readonly Part[];
      readonly answers: boolean;
    };

/**
 * Puts the addresses and credentials of the embedded stack that `npm start` or `npm run stack` runs in
 * another terminal into `env`, for the parts that `env` doesn't name. The database of one system and the
 * queues of another must never meet: when `env` names a part that the stack has as well, nothing is taken
 * from the stack.
 * @param env the environment of this process, because the AWS SDK reads its credentials there
 */
export async function useRunningStack(
  env: Record<string, string | undefined>,
  parts: readonly Part[],
): Promise<StackUse> {
  const unnamed = parts.filter((part) => !names(env, part));
  if (unnamed.length === 0) return { kind: 'named' };
  const file = stackFileIn(dataDirOf(env));
  const written = readStackFile(file);
  if (written === null) return { kind: 'no-stack', file };
  if (parts.some((part) => names(env, part) && names(written, part))) return { kind: 'another-system', file };

  const taken = unnamed.filter((part) => names(written, part));
  for (const [name, value] of Object.entries(written)) {
    const part = LOCATIONS.postgres.includes(name) ? 'postgres' : 'aws';
    if (taken.includes(part)) env[name] = value;
  }
  if (taken.includes('aws')) {
    // The developer's own profile or session would take precedence over the emulator's keys.
    delete env.AWS_PROFILE;
    delete env.AWS_SESSION_TOKEN;
  }
  const answers = await Promise.all(taken.map((part) => accepts(written[LOCATIONS[part][0] ?? ''] ?? '')));
  const missing = unnamed.filter((part) => !taken.includes(part));
  return { kind: 'used', file, missing, answers: !answers.includes(false) };
}

function names(env: Readonly<Record<string, string | undefined>>, part: Part): boolean {
  return LOCATIONS[part].some((name) => (env[name] ?? '').trim() !== '');
}

const CONNECT_TIMEOUT_MS = 1000;

/** A stack that was killed leaves its file behind. */
function accepts(url: string): Promise<boolean> {
  const { hostname = '', port = '' } = URL.parse(url) ?? {};
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: CONNECT_TIMEOUT_MS });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });
}

/** The services end with it when a setting is missing or wrong. sysexits.h: EX_CONFIG. */
const EXIT_CONFIG = 78;

const SETTINGS: Readonly<Record<Part, string>> = {
  postgres: 'no Postgres: set DATABASE_URL',
  aws: 'no S3 and SQS: set AWS_ENDPOINT_URL or PASTEFLOW_STACK',
};

/**
 * What to do about the stack when a command has ended with `code`; empty when the stack is not the reason.
 */
export function hintAfter(code: number, use: StackUse): string {
  if (code === EXIT_CONFIG) return missingHint(use);
  if (code !== 0 && use.kind === 'used' && !use.answers)
    return `The embedded stack of ${use.file} does not answer: is \`npm start\` still running?\n`;
  return '';
}

function missingHint(use: StackUse): string {
  switch (use.kind) {
    case 'named':
      return '';
    case 'no-stack':
      return `No embedded stack is running (there is no readable ${use.file}): start one with \`npm start\` in another terminal, or set the variables.\n`;
    case 'another-system':
      return `The embedded stack of ${use.file} was not used, because the environment names a part of another system: set the other variables, or unset that one.\n`;
    case 'used':
      return use.missing
        .map(
          (part) => `The running stack has ${SETTINGS[part]} as you did for \`npm start\` (${use.file}).\n`,
        )
        .join('');
    default:
      return use satisfies never;
  }
}
