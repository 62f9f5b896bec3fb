import type { Part, StackUse } from './use-running-stack.ts';

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
