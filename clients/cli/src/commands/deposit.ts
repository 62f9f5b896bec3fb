import {
  createClient,
  type OpenSecretRequest,
  PasteflowApiError,
  type PasteflowClient,
} from '@pasteflow/client';
import { MAX_REQUEST_MESSAGE_CHARACTERS } from '@pasteflow/domain';
import { wrapKey } from '@pasteflow/sealed/wrapped-keys';
import { EXIT_DONE, type ExitCode, UsageError } from '../errors.ts';
import { namesOf, readNamedFiles, titleOf } from '../files/named-files.ts';
import { sealFiles } from '../sealed/seal-content.ts';
import { noteRetries } from '../session.ts';
import { type DepositPlace, depositPlaceOf } from '../settings/named-requests.ts';
import type { CommonOptions } from '../settings/settings.ts';
import { Output } from '../terminal/output.ts';
import { sizeText } from '../terminal/progress-bar.ts';
import { confirms, type Terminal } from '../terminal/terminal.ts';

/**
 * `pasteflow deposit LINK [FILE…]`: shows who asks, encrypts the secret for them alone, and prints the receipt. The
 * link names the server, which gets no token.
 */
export async function deposit(
  terminal: Terminal,
  common: CommonOptions,
  signal: AbortSignal,
  given: {
    readonly link: string;
    readonly files: readonly string[];
    readonly options: { readonly yes?: boolean };
  },
): Promise<ExitCode> {
  const paths = given.files.length === 0 ? ['-'] : given.files;
  assertPossible(paths);
  const place = await depositPlaceOf(given.link);
  const output = new Output(terminal, { json: common.json === true });
  const client = createClient({ baseUrl: place.server, onRetry: noteRetries(place.server, output) });
  const request = factsOf(await client.requests.get(place.id, { signal }));
  output.note(
    `${request.from} asks for a secret through ${place.server}${request.message === null ? '.' : ':'}`,
  );
  if (request.message !== null) output.note(`  “${request.message}”`);
  if (terminal.stdin.isTTY === true) {
    if (given.options.yes !== true && !(await confirms(terminal, 'Give them a secret?', signal)))
      throw new Error('Nothing was deposited.');
    if (paths.includes('-')) output.note('Reading from the terminal until Ctrl-D.');
  }
  const sealed = await sealSecret(terminal, paths, place);
  const size = Buffer.byteLength(sealed.content);
  if (size > request.maxBytes)
    throw new Error(
      `The encrypted secret has ${sizeText(size)}, and the server takes ${sizeText(request.maxBytes)}. Nothing was sent.`,
    );
  const receipt = await send({ client, output, signal }, place, sealed);
  output.result({ receipt }, [receipt]);
  output.note('The secret has arrived. This receipt names it to who asks, and opens it for nobody.');
  return EXIT_DONE;
}

/** @throws UsageError */
function assertPossible(paths: readonly string[]): void {
  if (paths.filter((path) => path === '-').length > 1) throw new UsageError('- can be named once only.');
  namesOf(paths, '');
}

interface Asked {
  /** Whoever asks, by name, and the identity provider that gives the name. */
  readonly from: string;
  readonly message: string | null;
  readonly maxBytes: number;
}

const MAX_NAME = 100;

/** What the server says of the request, as far as it is one. @throws Error */
function factsOf(answer: object): Asked {
  const { from, message, max_bytes: maxBytes } = answer as Partial<OpenSecretRequest>;
  if (typeof from?.name !== 'string')
    throw new Error('The server has not answered with a request. Check the link. Nothing was sent.');
  const name = from.name.slice(0, MAX_NAME);
  const issuer = typeof from.issuer === 'string' ? hostOf(from.issuer).slice(0, MAX_NAME) : null;
  return {
    from: issuer === null ? name : `${name}, as ${issuer} says,`,
    message: typeof message === 'string' ? message.slice(0, 2 * MAX_REQUEST_MESSAGE_CHARACTERS) : null,
    maxBytes: typeof maxBytes === 'number' ? maxBytes : Infinity,
  };
}

function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

interface SealedSecret {
  readonly content: string;
  readonly wrapped_key: string;
}

async function sealSecret(
  terminal: Terminal,
  paths: readonly string[],
  { id, publicPart }: DepositPlace,
): Promise<SealedSecret> {
  const read = await readNamedFiles(paths, terminal.stdin, () => {});
  const files = read.map((file) => ({ ...file, syntax: null }));
  const title = (paths.length === 1 && titleOf(paths[0] ?? '-')) || null;
  const { content, key } = await sealFiles(files, title, { password: '', burn: false });
  return { content, wrapped_key: await wrapKey(key, id, publicPart) };
}

/** @returns the receipt */
async function send(
  { client, output, signal }: { client: PasteflowClient; output: Output; signal: AbortSignal },
  { id }: DepositPlace,
  sealed: SealedSecret,
): Promise<string> {
  try {
    const receipt: unknown = await client.requests.deposit(id, sealed, { signal });
    if (typeof receipt !== 'string') throw new Error('The server has not answered with a receipt.');
    return receipt;
  } catch (error) {
    if (!(error instanceof PasteflowApiError) || error.status >= 500)
      output.note('The secret may have arrived. Ask who asks for it, before you deposit it again.');
    throw error;
  }
}
