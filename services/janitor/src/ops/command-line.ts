import { misused, parseArguments, quote, type Help, type Misused } from '@pasteflow/command-line';
import { isShortCode, isUuid } from '@pasteflow/domain';

/** The paste or the job of a timeline. */
export type Subject =
  { readonly kind: 'paste'; readonly shortCode: string } | { readonly kind: 'job'; readonly id: string };

export type OpsCommand =
  | { readonly kind: 'status'; readonly json: boolean }
  | { readonly kind: 'timeline'; readonly of: Subject; readonly json: boolean }
  | { readonly kind: 'retry-dead-letters'; readonly json: boolean };

export const usage = `Usage:
  npm run ops -- status               shows states, ages, stuck work, queues and sweeps
  npm run ops -- timeline CODE        shows what happened to a paste; takes the id of a job, too
  npm run ops -- retry-dead-letters   moves dead letters back to the queues that they came from

  --json   prints JSON, for programs

The environment names the database and the queues, as for a janitor. When it names neither, \`npm run ops\` uses those
of a running \`npm start\` or \`npm run stack\`.
`;

const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

export function parseOpsCommand(args: readonly string[]): OpsCommand | Help | Misused {
  const parsed = parseArguments(args, options);
  if (parsed.kind === 'misused') return parsed;
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const json = values.json === true;
  const [name, ...rest] = positionals;
  switch (name) {
    case 'status':
    case 'retry-dead-letters':
      return rest.length === 0 ? { kind: name, json } : misused(`${name} takes no further arguments`);
    case 'timeline': {
      const of = rest.length === 1 ? parseSubject(rest[0] ?? '') : null;
      return of === null
        ? misused('timeline takes the short code of a paste or the id of a job')
        : { kind: 'timeline', of, json };
    }
    case undefined:
      return misused('the command is missing');
    default:
      return misused(`${quote(name)} is not a command`);
  }
}

/** Takes the URL of a paste, too: it ends with the short code. */
function parseSubject(text: string): Subject | null {
  const last = text.split('/').at(-1) ?? '';
  const id = last.toLowerCase();
  if (isUuid(id)) return { kind: 'job', id };
  return isShortCode(last) ? { kind: 'paste', shortCode: last } : null;
}
