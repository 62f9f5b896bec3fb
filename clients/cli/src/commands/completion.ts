import type { Command } from 'commander';
import { UsageError } from '../errors.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** What can follow a command. */
interface Place {
  /** `['webhooks', 'add']` */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** What its arguments can be, when that is a closed list. */
  readonly choices: readonly string[];
  /** Its own, with `--title`. */
  readonly options: readonly string[];
}

/** `pasteflow completion SHELL`: the names of the commands and of their options. */
export function completionScript(program: Command, shell: Shell): string {
  const common = optionsOf(program);
  const places = placesOf(program, []);
  switch (shell) {
    case 'bash':
      return bash(places, common);
    case 'zsh':
      return zsh(places, common);
    case 'fish':
      return fish(places, common);
    default:
      shell satisfies never;
      throw new UsageError(`completion takes one of ${SHELLS.join(', ')}.`);
  }
}

/** The commands behind a command come before it, since the first pattern that fits counts. */
function placesOf(command: Command, path: readonly string[]): readonly Place[] {
  const commands = command.commands.map((each) => ({ name: each.name(), description: each.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const options = path.length === 0 ? [] : optionsOf(command);
  const behind = command.commands.flatMap((each) => placesOf(each, [...path, each.name()]));
  return [...behind, { path, commands, choices, options }];
}

function optionsOf({ options }: Command): readonly string[] {
  return options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
}

function wordsOf({ commands, choices }: Place): string {
  return [...commands.map(({ name }) => name), ...choices].join(' ');
}

/** Fits what stands before the word that is completed, with a space behind it. */
function patternOf({ path }: Place): string {
  return path.length === 0 ? `' '` : `'${path.join(' ')} '*`;
}

function bash(places: readonly Place[], common: readonly string[]): string {
  const cases = places.map(
    (each) => `    ${patternOf(each)}) words='${wordsOf(each)}' options='${each.options.join(' ')}' ;;`,
  );
  return `_pasteflow() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words='' options=''
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${cases.join('\n')}
  esac
  if [[ "$current" == -* ]]; then words="$options ${common.join(' ')}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _pasteflow pasteflow
`;
}

function zsh(places: readonly Place[], common: readonly string[]): string {
  const cases = places.map(
    (each) => `    ${patternOf(each)}) names=(${wordsOf(each)}) flags=(${each.options.join(' ')}) ;;`,
  );
  return `#compdef pasteflow
_pasteflow() {
  local -a names flags
  case "\${(j: :)words[2,CURRENT-1]} " in
${cases.join('\n')}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then compadd -- $flags ${common.join(' ')}
  elif (( $#names )); then compadd -- $names
  else _files
  fi
}
compdef _pasteflow pasteflow
`;
}

function fish(places: readonly Place[], common: readonly string[]): string {
  const lines = places.flatMap(({ path, commands, choices, options }) => {
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ');
    const names = commands.map(({ name }) => name).join(' ');
    const none =
      seen === '' ? '__fish_use_subcommand' : `${seen}; and not __fish_seen_subcommand_from ${names}`;
    const after = `complete -c pasteflow -n '${seen}'`;
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c pasteflow -n '${none}' -f -a ${name} -d '${description.replaceAll("'", "\\'")}'`,
      ),
      ...choices.map((each) => `${after} -f -a ${each}`),
      ...options.map((each) => `${after} -l ${each.slice(2)}`),
    ];
  });
  lines.push(...common.map((each) => `complete -c pasteflow -l ${each.slice(2)}`));
  return `${lines.join('\n')}\n`;
}
