import type { Command } from 'commander';
import { UsageError } from '../errors.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

interface Completed {
  readonly name: string;
  readonly description: string;
  /** `--title` */
  readonly options: readonly string[];
}

/** `pasteflow completion SHELL`: the names of the commands and of their options. */
export function completionScript(program: Command, shell: Shell): string {
  const common = optionsOf(program);
  const commands = program.commands.map((each): Completed => ({
    name: each.name(),
    description: each.description(),
    options: [...optionsOf(each), ...common],
  }));
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
    default:
      shell satisfies never;
      throw new UsageError(`completion takes one of ${SHELLS.join(', ')}.`);
  }
}

function optionsOf({ options }: Command): readonly string[] {
  return options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
}

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options }) => `    ${name}) words='${options.join(' ')}' ;;`);
  return `_pasteflow() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=''
  if [ "$COMP_CWORD" -eq 1 ]; then words='${commands.map(({ name }) => name).join(' ')}'
  elif [[ "$current" == -* ]]; then case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _pasteflow pasteflow
`;
}

function zsh(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options }) => `      ${name}) compadd -- ${options.join(' ')} ;;`);
  return `#compdef pasteflow
_pasteflow() {
  if (( CURRENT == 2 )); then compadd -- ${commands.map(({ name }) => name).join(' ')}
  elif [[ "$words[CURRENT]" == -* ]]; then
    case "$words[2]" in
${cases.join('\n')}
    esac
  else _files
  fi
}
compdef _pasteflow pasteflow
`;
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, description, options }) => [
    `complete -c pasteflow -n __fish_use_subcommand -f -a ${name} -d '${description.replaceAll("'", "\\'")}'`,
    ...options.map(
      (each) => `complete -c pasteflow -n '__fish_seen_subcommand_from ${name}' -l ${each.slice(2)}`,
    ),
  ]);
  return `${lines.join('\n')}\n`;
}
