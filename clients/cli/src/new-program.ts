import { Command } from 'commander';
import { safeText } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';

/** `pasteflow` with what holds for every command, and without the commands. */
export function newProgram({ stdout, stderr }: Terminal): Command {
  return new Command('pasteflow')
    .description('Pastes from the command line. Results go to stdout, everything else to stderr.')
    .version('0.1.0')
    .option('--server <url>', 'the server; otherwise PASTEFLOW_SERVER, or that of `pasteflow login`')
    .option(
      '--token-file <file>',
      'a file with the token; otherwise PASTEFLOW_TOKEN, or that of `pasteflow login`',
    )
    .option('--anonymous', 'send no token')
    .option('--json', 'print each result as a line of JSON')
    .addHelpText(
      'after',
      examples(
        'pasteflow login --server https://paste.example.org',
        'pasteflow put notes.txt',
        'pasteflow cat q7Zk2Lm9Xa',
        'pasteflow help put',
      ),
    )
    .addHelpText(
      'after',
      part(
        'Environment',
        'PASTEFLOW_SERVER    the server, unless --server names one',
        'PASTEFLOW_TOKEN     the token, unless --token-file or --server is given',
        'PASTEFLOW_PASSWORD  the password of an encrypted paste',
        'VISUAL, EDITOR      what `pasteflow edit` opens',
        'NO_COLOR            no colours',
        'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
      ),
    )
    .addHelpText(
      'after',
      part(
        'Files',
        '$XDG_CONFIG_HOME/pasteflow/config.json    what `pasteflow login` keeps; otherwise below ~/.config',
        '$XDG_STATE_HOME/pasteflow/delete-tokens   otherwise below ~/.local/state',
      ),
    )
    .addHelpText(
      'after',
      part(
        'Exit status',
        '0  done',
        '1  the command failed, or a part of it',
        '2  the command line or the configuration is wrong; nothing was sent',
      ),
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      // It repeats arguments, such as the name of a hostile file that a shell has put there for `*`.
      writeErr: (text) => void stderr.write(text.split('\n').map(safeText).join('\n')),
    });
}

export function examples(...lines: readonly string[]): string {
  return part('Examples', ...lines);
}

/** The manual page has it as a section, too. */
function part(title: string, ...lines: readonly string[]): string {
  return [`\n${title}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}
