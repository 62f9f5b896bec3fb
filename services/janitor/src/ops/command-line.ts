import { parseArgs } from 'node:util';
import { isShortCode } from '@pasteflow/domain';

/** What a timeline is asked of. */
export type Subject =
  { readonly kind: 'paste'; readonly shortCode: string } | { readonly kind: 'job'; readonly id: string };

export type OpsCommand =
  | { readonly kind: 'status'; readonly json: boolean }
  | { readonly kind: 'timeline'; readonly of: Subject; readonly json: boolean }
  | { readonly kind: 'retry-dead-letters'; readonly json: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'misused'; readonly message: string };

export const usage = `Usage:
  npm run ops -- status               states, ages, what is stuck, queues and sweeps
  npm run ops -- timeline CODE        what happened to a paste; or to a job, by its id
  npm run ops -- retry-dead-letters   moves dead letters back to the queues that they came from

  --json   the answer as JSON, for programs

It needs the settings of a janitor, or \`npm start\` or \`npm run stack\` running in another terminal.
`;

export function parseOpsCommand(args: readonly string[]): OpsCommand {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    return misused((error as Error).message.split(/\.\s/)[0] ?? '');
  }
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const json = values.json === true;
  const [name, ...rest] = positionals;
  switch (name) {
    case 'status':
    case 'retry-dead-letters':
      return rest.length === 0 ? { kind: name, json } : misused(`${name} takes nothing else`);
    case 'timeline': {
      const of = rest.length === 1 ? subjectOf(rest[0] ?? '') : null;
      return of === null
        ? misused('timeline takes the short code of a paste or the id of a job')
        : { kind: 'timeline', of, json };
    }
    case undefined:
      return misused('say what is wanted');
    default:
      return misused(`${JSON.stringify(name.slice(0, 100))} is not understood`);
  }
}

/** A paste's URL will do: it ends in the code. */
function subjectOf(text: string): Subject | null {
  const last = text.split('/').at(-1) ?? '';
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(last)) return { kind: 'job', id: last.toLowerCase() };
  return isShortCode(last) ? { kind: 'paste', shortCode: last } : null;
}

function misused(message: string): OpsCommand {
  return { kind: 'misused', message };
}
