import { Command, CommanderError } from 'commander';
import { takedownClasses, type TakedownClass } from '@pasteflow/domain';
import { commandName, type Help, isMisused, type Misused, misused, quote } from '@pasteflow/service-kit';
import { type Action, type ActionOption } from '../actions/action.ts';
import { actions } from '../actions/actions.ts';
import type { Subject } from '../actions/subjects.ts';
import { adoptBucket, restoreObjects } from './bucket.ts';
import type { Flags, GivenOptions, OwnCommand } from './command.ts';
import { inviteUser } from './invite.ts';
import { blocks, erasures, pauses, workers } from './lists.ts';
import { jobs, pastes, users } from './long-lists.ts';
import { reports } from './reports.ts';
import { status } from './status.ts';
import { timeline } from './timeline.ts';
import { addWebhook, webhooks } from './webhooks.ts';

/** The commands that are no actions. */
export const ownCommands: readonly OwnCommand[] = [
  status,
  timeline,
  users,
  pastes,
  jobs,
  workers,
  reports,
  blocks,
  pauses,
  erasures,
  inviteUser,
  webhooks,
  addWebhook,
  adoptBucket,
  restoreObjects,
];

/** What an action means, which is only shown: --yes is missing. */
interface CountCommand {
  readonly kind: 'count';
  readonly action: string;
  /** As the action takes it; empty: none. */
  readonly subject: string;
  /** The subject is still to be looked up. */
  readonly find?: Subject['find'];
  readonly json: boolean;
}

/** An action that the command line asks for. */
interface ActCommand extends Omit<CountCommand, 'kind'> {
  readonly kind: 'act';
  readonly class: TakedownClass;
  /** null: none was given. */
  readonly reason: string | null;
  /** Default: none. */
  readonly also?: readonly ActionOption[];
}

/** A command that is no action, with what it has read. */
interface AskedOwn {
  readonly kind: string;
  readonly action?: undefined;
  readonly json: boolean;
}

export type AskedAction = ActCommand | CountCommand;

export type OpsCommand = AskedAction | AskedOwn;

/** Of the actions. */
const actionFlags: Flags = {
  yes: ['--yes', 'does what is otherwise only shown'],
  reason: ['--reason <TEXT>', 'why; only operators read it, unless the command says otherwise'],
  class: ['--class <CLASS>', `the class that readers see: ${takedownClasses.join(', ')}. Default: other`],
  block: ['--block', 'blocks the content, too'],
  'end-tokens': ['--end-tokens', 'revokes all tokens of the user, too'],
  user: ['--user <ID>', 'a user instead of the argument'],
  'all-failed-since': ['--all-failed-since <TIME>', 'e.g. 2026-11-22T04:00:00Z'],
};

interface Listed {
  readonly name: string;
  /** After the name, in the usage. */
  readonly takes: string;
  readonly help: string;
  readonly flags: Flags;
  readonly read: (args: readonly string[], options: GivenOptions) => OpsCommand | Misused;
}

/** Every command. Actions whose commands have the same name are one. */
const listed: readonly Listed[] = [
  ...ownCommands.map((own): Listed => {
    const { name, takes = '', help, flags = {} } = own;
    return { name, takes, help, flags, read: (args, options) => readOwn(own, args, options) };
  }),
  ...[...Map.groupBy(actions, ({ command }) => command?.name)].flatMap(([name, sharing]): Listed[] => {
    if (name === undefined) return [];
    const { subjects = [], reason } = sharing[0]?.command ?? {};
    return [
      {
        name,
        takes: `${subjects[0]?.shown ?? ''}${reason === 'needed' ? ' --reason TEXT' : ''}`,
        help: sharing.map(({ command }) => command?.help).join('; '),
        flags: Object.fromEntries(
          Object.entries(actionFlags).filter(([option]) => sharing.some((each) => takesOption(each, option))),
        ),
        read: (args, options) => readAction(name, sharing, args, options),
      },
    ];
  }),
];

function takesOption({ command, hasClass, options = [] }: Action, option: string): boolean {
  if (option === 'yes') return command?.unconfirmed !== undefined;
  if (option === 'reason') return command?.reason !== 'none';
  if (option === 'class') return hasClass === true;
  const ofSubject = command?.subjects.some((each) => each.option === option) === true;
  return ofSubject || options.some((each) => each === option);
}

/** The commands that take --yes. One that takes it only with some subjects is named with their option. */
const YES_IS_FOR = `--yes is only for ${inWords(
  [
    ...ownCommands.filter(({ flags = {} }) => 'yes' in flags).map(({ name }) => name),
    ...actions.flatMap(({ command }) => {
      if (command?.unconfirmed === undefined) return [];
      const [first] = command.subjects;
      return [first?.option === undefined ? command.name : `${command.name} --${first.option}`];
    }),
  ].toSorted(),
)}`;

const HELP_WIDTH = 110;

/** Every option, with the commands that take it. */
const options = new Map(
  listed
    .flatMap(({ flags }) => Object.entries(flags))
    .map(([option, [flag, help]]) => {
      const takenBy = listed.filter(({ flags }) => option in flags).map(({ name }) => name);
      return [option, { flag, help: `for ${inWords(takenBy)}: ${help}`, takenBy }];
    }),
);

export const usage = `${createProgram(() => {}).helpInformation()}
The environment names the database, the bucket and the queues, as for a janitor.
`;

export function parseOpsCommand(args: readonly string[]): OpsCommand | Help | Misused {
  const ambiguous = findAmbiguous(args);
  if (ambiguous !== undefined) return misused(`Option '${ambiguous}' argument is ambiguous`);
  let asked: OpsCommand | Misused = misused('the command is missing');
  try {
    createProgram((read) => (asked = read)).parse([...args], { from: 'user' });
    return asked;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help' };
    const text = error.message.replace(/^error: /, '');
    return misused(text.slice(0, 1).toUpperCase() + text.slice(1));
  }
}

/** An option whose value is missing, so that the next option would be its value. `--reason=--text` is none. */
function findAmbiguous(args: readonly string[]): string | undefined {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const takesValue = (arg: string) =>
    options.get(arg.replace('--', ''))?.flag.startsWith(`${arg} <`) === true;
  return args.slice(0, end).find((arg, at) => takesValue(arg) && /^-./.test(args[at + 1] ?? ''));
}

/** Reads each command, and runs none. The options are the program's, so that they may stand before the command. */
function createProgram(onRead: (asked: OpsCommand | Misused) => void): Command {
  const program: Command = new Command(commandName('ops'))
    .usage('COMMAND')
    .option('--json', 'prints JSON, for programs')
    .helpOption('-h, --help', 'shows this')
    .helpCommand(false)
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, getOutHelpWidth: () => HELP_WIDTH })
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`.trim(),
      visibleOptions: () => [...program.options],
    })
    .showSuggestionAfterError(false)
    .exitOverride()
    .allowExcessArguments()
    .action(() => {
      const [name] = program.args;
      if (name !== undefined) onRead(misused(`${quote(name)} is not a command`));
    });
  for (const { flag, help } of options.values()) program.option(flag, help);
  for (const { name, takes, help, flags, read } of listed) {
    const command = program
      .command(name)
      .usage(takes || ' ')
      .description(help)
      .allowExcessArguments();
    command.action(() => {
      const given: GivenOptions = Object.fromEntries(
        program.options.map((option) => [option.name(), program.getOptionValue(option.attributeName())]),
      );
      const notTaken = [...options.keys()].find(
        (option) => given[option] !== undefined && !(option in flags),
      );
      onRead(notTaken === undefined ? read(command.args, given) : misused(onlyFor(notTaken)));
    });
  }
  return program;
}

function onlyFor(option: string): string {
  return option === 'yes'
    ? YES_IS_FOR
    : `--${option} is only for ${inWords(options.get(option)?.takenBy ?? [])}`;
}

function readOwn(
  { name, read, takes }: OwnCommand,
  args: readonly string[],
  options: GivenOptions,
): AskedOwn | Misused {
  if (takes === undefined && args.length > 0) return misused(`${name} takes no further arguments`);
  const given = read?.(args, options);
  if (isMisused(given)) return given;
  return { kind: name, json: options.json === true, ...given };
}

/** @param sharing the actions of the command */
function readAction(
  name: string,
  sharing: readonly Action[],
  args: readonly string[],
  options: GivenOptions,
): AskedAction | Misused {
  const { reason, class: asked = 'other', yes = false, json } = options;
  const why = takedownClasses.find((each) => each === asked);
  if (why === undefined) return misused(`--class is one of ${takedownClasses.join(', ')}`);
  const isNeeded = sharing.some(({ command }) => command?.reason === 'needed');
  if (isNeeded && String(reason ?? '').trim() === '') return misused(`${name} needs --reason with a text`);
  const found = findMeant(sharing, args, options);
  if (found === null) return misused(`${name} takes ${takenBy(sharing)}`);
  const { action, subject, find } = found;
  const isUnconfirmed = action.command?.unconfirmed !== undefined;
  if (yes === true && !isUnconfirmed) return misused(YES_IS_FOR);
  const meant = { action: action.name, subject, ...(find && { find }), json: json === true };
  if (isUnconfirmed && yes !== true) return { kind: 'count', ...meant };
  const also = action.options?.filter((option) => options[option] === true) ?? [];
  return {
    kind: 'act',
    ...meant,
    class: why,
    reason: typeof reason === 'string' ? reason : null,
    ...(also.length > 0 && { also }),
  };
}

/** The one of the actions whose subject was given, and it alone. */
function findMeant(
  sharing: readonly Action[],
  args: readonly string[],
  options: GivenOptions,
): { readonly action: Action; readonly subject: string; readonly find?: Subject['find'] } | null {
  const subjects = sharing.flatMap((action) =>
    (action.command?.subjects ?? []).map((subject) => ({ action, subject })),
  );
  const [only] = sharing;
  if (subjects.length === 0)
    return only !== undefined && args.length === 0 ? { action: only, subject: '' } : null;
  const names = [...new Set(subjects.flatMap(({ subject }) => subject.option ?? []))];
  const given = [
    ...args.map((text) => ({ option: undefined, text })),
    ...names.flatMap((option) =>
      options[option] === undefined ? [] : [{ option, text: String(options[option]) }],
    ),
  ];
  const [{ option, text } = { option: undefined, text: '' }, ...more] = given;
  if (more.length > 0) return null;
  for (const { action, subject } of subjects) {
    const read = subject.option === option ? subject.read(text) : null;
    if (read !== null) return { action, subject: read, ...(subject.find && { find: subject.find }) };
  }
  return null;
}

function takenBy(sharing: readonly Action[]): string {
  const words = sharing.flatMap(({ command }) => command?.subjects.map((subject) => subject.words) ?? []);
  if (words.length === 0) return 'no further arguments';
  return words.length === 1 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`;
}

/** `a, b and c` */
function inWords(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
