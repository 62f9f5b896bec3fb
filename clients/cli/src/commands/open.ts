import { EXIT_DONE, type ExitCode } from '../errors.ts';
import { keyIn } from '../sealed/open-content.ts';
import type { Session } from '../session.ts';
import { namedBy, withFragment } from '../settings/named.ts';
import { opener, runProgram } from '../terminal/programs.ts';

/** `pasteflow open CODE|JOB`: its page in the browser. */
export async function open({ output, server, terminal }: Session, given: string): Promise<ExitCode> {
  const argument = withFragment(given);
  const named = namedBy(argument, server);
  if (named.kind === 'paste') keyIn(argument); // a damaged key opens nothing
  const fragment = argument.includes('#') ? argument.slice(argument.indexOf('#')) : '';
  const url = named.kind === 'job' ? `${server}/my/jobs/${named.id}` : `${server}/${named.name}${fragment}`;
  const code = await runProgram(terminal, [opener, url], { stdio: ['inherit', 'ignore', 'inherit'] }).catch(
    () => null,
  );
  if (code === 0) return EXIT_DONE;
  output.result({ url }, [url]);
  throw new Error(
    `No browser was opened, because ${opener} is missing or failed. Open the address yourself.`,
  );
}
