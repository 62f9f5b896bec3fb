import type { Command } from 'commander';
import { answers } from './commands/answers.ts';
import { deposit } from './commands/deposit.ts';
import { ask, requests } from './commands/requests.ts';
import type { Act, InSession } from './running.ts';
import type { CommonOptions } from './settings/settings.ts';

/** The commands of requests for secrets, for who asks and for who deposits. */
export function addRequestCommands(
  program: Command,
  { inSession, act }: { readonly inSession: InSession; readonly act: Act },
): void {
  program
    .command('ask')
    .description('asks for a secret, and prints the link for whoever is to deposit it')
    .argument('[message]', 'what you ask for, in one line without links')
    .option('-d, --deposits <number>', 'how many deposits the request takes; otherwise one')
    .option('-e, --expires <time>', 'how long it takes them: 30m, 12h or 7d; otherwise 7d')
    .action(inSession(ask));
  program
    .command('requests')
    .description('lists your requests for secrets, newest first')
    .action(inSession(requests));
  program
    .command('answers')
    .description('opens what was deposited for a request of yours, and prints it')
    .argument('<request>', 'the id of the request, or its private link; - reads that from stdin')
    .argument('[receipts...]', 'only these deposits')
    .option('-o, --output <folder>', 'write each deposit into a folder of its own in this folder instead')
    .option('--link', 'only print the private link, which opens the deposits in a browser')
    .option('--keep', 'keep the key of the private link on this machine')
    .action(inSession(answers));
  program
    .command('deposit')
    .description('encrypts a secret for whoever has sent you a link that asks for one, and prints a receipt')
    .argument('<link>', 'the link, in quotes')
    .argument('[files...]', 'the files; otherwise stdin')
    .option('-y, --yes', 'do not ask on a terminal')
    .action((link: string, files: readonly string[], options: { readonly yes?: boolean }) =>
      act((of, signal) => deposit(of, program.opts<CommonOptions>(), signal, { link, files, options })),
    );
}
