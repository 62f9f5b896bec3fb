import { readFile } from 'node:fs/promises';
import { messageOf, UsageError } from '../errors.ts';
import { readConfigFile } from './config-file.ts';

/** The options that every command has. */
export interface CommonOptions {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly anonymous?: boolean;
  readonly json?: boolean;
}

export interface Settings {
  /** Without a slash at its end. */
  readonly server: string;
  /** undefined: anonymous. */
  readonly token: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Flags win over the environment, and the environment over the file. @throws UsageError */
export async function readSettings(env: Environment, options: CommonOptions): Promise<Settings> {
  const config = await readConfigFile(env);
  const usual = (env.PASTEFLOW_SERVER || config.server) ?? (await offeringServer());
  const named = options.server ?? usual;
  if (named === undefined)
    throw new UsageError('No server is known. Run `pasteflow login --server URL`, or set PASTEFLOW_SERVER.');
  const server = serverOf(named);
  if (options.anonymous === true) return { server, token: undefined };
  if (options.tokenFile !== undefined) return { server, token: await tokenIn(options.tokenFile) };
  const kept = Object.hasOwn(config.tokens, server) ? config.tokens[server] : undefined;
  const token = (isUsual(server, usual) && env.PASTEFLOW_TOKEN) || kept;
  return { server, token: token === undefined ? undefined : checkedToken(token) };
}

/** The server that this client was installed from, which has added its address; undefined: it was not. */
export async function offeringServer(): Promise<string | undefined> {
  if (!URL.canParse('server.json', import.meta.url)) return undefined; // in the single executable
  const text = await readFile(new URL('server.json', import.meta.url), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { readonly server?: string }).server;
}

/** PASTEFLOW_TOKEN is for the usual server. One that is named by `--server` must not get it. */
function isUsual(server: string, usual: string | undefined): boolean {
  return usual === undefined || serverOf(usual) === server;
}

/** @throws UsageError unless the text is the URL of a server */
export function serverOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    throw new UsageError(wrongServer(text));
  const whole = `${url.origin}${url.pathname}`;
  return whole.endsWith('/') ? whole.slice(0, -1) : whole;
}

/** Before an @ there can be a password, which the message must not contain. */
function wrongServer(text: string): string {
  const example = 'a URL such as https://paste.example.org';
  if (text.includes('@')) return `The server must be ${example}, without a user name, a password or an @.`;
  return `The server ${JSON.stringify(text)} is not ${example}.`;
}

/** Whether others on the network can read what is sent. */
export function isReadableByOthers(server: string): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** A token can be a header: printable ASCII without spaces. @throws UsageError */
export function checkedToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError('The token is empty or has characters that no token has. Copy it again.');
  return token;
}

/** @throws UsageError */
async function tokenIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new UsageError(`The token can not be read: ${messageOf(cause)}`, { cause });
  });
  return checkedToken(text.trim());
}
