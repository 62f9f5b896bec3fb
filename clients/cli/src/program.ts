import { type Command, CommanderError } from 'commander';
import { cancel, retry } from './commands/jobs.ts';
import { cat, diff } from './commands/cat.ts';
import { completionScript, type Shell, SHELLS } from './commands/completion.ts';
import { edit } from './commands/edit.ts';
import { exportPastes } from './commands/export.ts';
import { importFile } from './commands/import.ts';
import { login, logout, whoami } from './commands/login.ts';
import { change, history, ls, open, rm } from './commands/pastes.ts';
import { put } from './commands/put.ts';
import { receipt } from './commands/receipt.ts';
import { runJob } from './commands/run.ts';
import { timeline, watch } from './commands/follow.ts';
import {
  EXIT_DONE,
  EXIT_FAILED,
  EXIT_MISUSED,
  type ExitCode,
  messageOf,
  OutputClosedError,
  UsageError,
} from './errors.ts';
import { examples, newProgram } from './new-program.ts';
import { addRequestCommands } from './commands/requests.ts';
import type { Act, InSession } from './running.ts';
import { openSession, type Session } from './session.ts';
import { pasteFlags, readerFlags } from './settings/paste-flags.ts';
import type { CommonOptions } from './settings/settings.ts';
import { Output } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';
import { addWebhookCommands } from './commands/webhooks.ts';

/** Runs one command line. @param args without the name of the program */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const output = new Output(terminal, { json: false });
  let code: ExitCode = EXIT_DONE;
  const act: Act = async (work) => {
    code = await work(terminal, signal);
  };
  try {
    await buildProgram(terminal, act).parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_MISUSED;
    if (signal.reason instanceof OutputClosedError) return EXIT_FAILED;
    output.problem(signal.aborted ? 'Interrupted.' : messageOf(error));
    return error instanceof UsageError ? EXIT_MISUSED : EXIT_FAILED;
  }
}

const { expires_in: expires } = pasteFlags;
const RAW = 'on a terminal, too, print every byte as it is';

/** Every command with its arguments and options. */
export function buildProgram(terminal: Terminal, act: Act): Command {
  const program = newProgram(terminal);
  const inSession: InSession =
    <Arguments extends unknown[]>(work: (session: Session, ...args: Arguments) => Promise<ExitCode>) =>
    (...args) =>
      act(async (of, signal) => {
        const options = program.opts<CommonOptions>();
        return await work(await openSession(of, options, signal), ...(args as unknown as Arguments));
      });

  const putting = program
    .command('put')
    .description('makes a paste of the files, or of stdin, and prints its URL')
    .argument('[files...]', 'the files; - is stdin');
  for (const { flags, description } of Object.values(pasteFlags)) putting.option(flags, description);
  putting
    .option('--private', readerFlags.private)
    .option('--members', readerFlags.members)
    .option('--each', 'make a paste of each file')
    .option('-w, --wait', 'wait until the content is stored')
    .option('--encrypt', 'encrypt the content here; the key is in the URL behind #')
    .option('--password', 'with --encrypt: also ask for a password, or take PASTEFLOW_PASSWORD')
    .option('--secret', 'for one reader: --encrypt --burn --expires 1d, unless you give another --expires')
    .option('--qr', 'also draw the URL as a QR code, on stderr')
    .option('--copy', 'also copy the URL to the clipboard')
    .addHelpText(
      'after',
      examples(
        'pasteflow put server.log',
        'pasteflow put src/*.py README.md',
        'dmesg | pasteflow put --title "boot messages" --expires 2h --copy',
        'pasteflow put --secret password.txt',
      ),
    )
    .action(inSession(put));
  program
    .command('cat')
    .description('prints the content of pastes, and decrypts it when the URL has a key')
    .argument('<pastes...>', 'short codes or URLs')
    .option('-o, --output <file>', 'write to this file instead, or all files to this new folder/')
    .option('-f, --file <name>', 'print this file of a paste of several', once)
    .option(
      '-a, --attachment <file>',
      'write the attachment of an encrypted paste to this file; repeatable',
      listed,
    )
    .option('--reveal', 'also read a paste that is deleted when it is read: nobody can read it again')
    .option('--from <file>', 'read the content from a file that a failed --reveal has kept')
    .option('--raw', RAW)
    .addHelpText(
      'after',
      examples(
        'pasteflow cat q7Zk2Lm9Xa',
        'pasteflow cat q7Zk2Lm9Xa --file src/main.py',
        'pasteflow cat q7Zk2Lm9Xa -o folder/',
        "pasteflow cat 'https://paste.example.org/q7Zk2Lm9Xa#KEY' -o notes",
      ),
    )
    .action(inSession(cat));
  program
    .command('diff')
    .description('prints what has changed since the paste that this one was made from, as a patch')
    .argument('<paste>', 'a short code or a URL')
    .option('-o, --output <file>', 'write to this file instead')
    .option('--raw', RAW)
    .action(inSession(diff));
  program
    .command('edit')
    .description('opens a paste in $VISUAL or $EDITOR, and saves its newer version, to which its slug moves')
    .argument('<paste>', '~ and the slug (quote it), a short code or a URL')
    .option(expires.flags, expires.description)
    .option('--folder', 'open the folder of the files, to add, rename and remove some')
    .option('-y, --yes', 'do not ask before files are added, renamed or removed')
    .action(inSession(edit));
  program
    .command('change')
    .description('changes the title, the language, the readers or the expiry of a paste')
    .argument('<paste>', '~ and the slug (quote it), a short code or a URL')
    .option('-t, --title <title>', "the title; '' for none")
    .option('-s, --syntax <language>', "the language; '' for none")
    .option(expires.flags, expires.description)
    .option('--private', readerFlags.private)
    .option('--members', readerFlags.members)
    .option('--unlisted', readerFlags.unlisted)
    .option('--delete-token <token>', 'of an anonymous paste that was made elsewhere')
    .action(inSession(change));
  program
    .command('history')
    .description('lists the versions of a slug: the pastes that it has named, newest first')
    .argument('<paste>', '~ and the slug (quote it), a short code or a URL')
    .action(inSession(history));
  program
    .command('open')
    .description('opens the page of a paste or a job in the browser')
    .argument('<paste or job>', 'a short code, the id of a job, or a URL')
    .action(inSession(open));
  program
    .command('ls')
    .description('lists your pastes, newest first')
    .option('-n, --limit <number>', 'at most so many', '20')
    .option('--status <status>', 'only those that are IN_PROGRESS, PROCESSED or FAILED')
    .option('--visibility <visibility>', 'only those that are unlisted, members or private')
    .option('--syntax <language>', 'only those in this language')
    .action(inSession(ls));
  program
    .command('rm')
    .description('deletes pastes')
    .argument('<pastes...>', 'short codes or URLs')
    .option('--delete-token <token>', 'of an anonymous paste that was made elsewhere')
    .action(inSession(rm));
  program
    .command('receipt')
    .description('says whether a paste that is deleted when it is read was fetched, and by whom')
    .argument('<paste>', 'a short code or a URL')
    .option('--delete-token <token>', 'of an anonymous paste that was made elsewhere')
    .action(inSession(receipt));
  program
    .command('import')
    .description('makes pastes of the entries of a zip, tar, tar.gz or NDJSON, and prints their URLs')
    .argument('<file>', 'the file; - is stdin')
    .option(expires.flags, expires.description)
    .option('--private', 'only you can read them')
    .option('--members', 'only people who are signed in, or send a token, can read them')
    .option('--as-one-paste', 'make one paste of the files of an archive, at most 100')
    .action(inSession(importFile));
  program
    .command('export')
    .description('makes archives of your pastes, and prints the names of their files')
    .option('-o, --output <file>', 'the file, and what the names of further archives begin with; - is stdout')
    .option('-f, --format <format>', 'zip, tar.gz or ndjson', 'zip')
    .option('--job <id>', 'fetch the archives of this export, and start none')
    .action(inSession(exportPastes));
  program
    .command('run')
    .description(
      'runs a job, also of a type that the operator of the server has added, and prints its result',
    )
    .argument('<type>', 'the type of the job')
    .argument('[parameters]', 'its parameters, an object of JSON; - is stdin', '{}')
    .option('-o, --output <folder>', 'save the files of the job there, over those of the same names')
    .action(inSession(runJob));
  addRequestCommands(program, { inSession, act });
  addWebhookCommands(program, inSession);
  program
    .command('watch')
    .description('prints the events of a paste or a job as they happen')
    .argument('<paste or job>', 'a short code, the id of a job, or a URL')
    .action(inSession(watch));
  program
    .command('cancel')
    .description('ends a job that waits or runs, or a request for secrets; what it has stays')
    .argument('<job or request>', 'its id')
    .action(inSession(cancel));
  program
    .command('retry')
    .description('retries a job that is failed or partial, as a new job, and prints its id')
    .argument('<job>', 'the id of the job')
    .action(inSession(retry));
  program
    .command('timeline')
    .description('prints what has happened to a paste or a job')
    .argument('<paste or job>', 'a short code, the id of a job, or a URL')
    .action(inSession(timeline));
  program
    .command('login')
    .description(
      'opens the page that makes a token, asks for the token (or reads it from stdin), and keeps it',
    )
    .addHelpText(
      'after',
      examples(
        'pasteflow login --server https://paste.example.org',
        'pasteflow login --server https://paste.example.org <token.txt',
      ),
    )
    .action(() => act((of, signal) => login(of, program.opts<CommonOptions>(), signal)));
  program
    .command('logout')
    .description('revokes the token that you made for this machine, and forgets it')
    .addHelpText('after', examples('pasteflow logout', 'pasteflow logout --server https://paste.example.org'))
    .action(() => act((of, signal) => logout(of, program.opts<CommonOptions>(), signal)));
  program
    .command('whoami')
    .description('prints the server, the user of your token, and what you use of quotas')
    .action(() => act((of, signal) => whoami(of, program.opts<CommonOptions>(), signal)));
  program
    .command('completion')
    .description('prints a script with which a shell completes this command')
    .argument('<shell>', SHELLS.join(', '))
    .action((shell: string) =>
      act(async ({ stdout }) => {
        stdout.write(completionScript(program, shell as Shell));
        return EXIT_DONE;
      }),
    );
  return program;
}

/** The values of an option that can be repeated. */
function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** The value of an option of which a second one would be taken for another file to print. */
function once(value: string, before?: string): string {
  if (before === undefined) return value;
  throw new UsageError('--file is one file. Read the files one by one, or all with -o FOLDER/.');
}
