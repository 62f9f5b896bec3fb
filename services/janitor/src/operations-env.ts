import { httpUrl, isLoopback, port, secret, text } from '@pasteflow/runtime';
import { z } from 'zod';

/** The operations page. */
export interface OperationsConfig {
  readonly host: string;
  readonly port: number;
  /** Where browsers reach the page through a proxy; null: at the address that it listens on. */
  readonly url: URL | null;
  /** Reads and acts; null: nobody may act with a token. */
  readonly token: string | null;
  /** Reads; null: there is none. */
  readonly readToken: string | null;
}

/** 16 characters of a random token have 96 bits, which nobody guesses at any rate of guesses. */
const MIN_TOKEN_CHARACTERS = 16;

/** A browser sends a token as a password of HTTP's Basic authentication, whose characters differ between browsers beyond ASCII. */
const token = () =>
  secret(
    `${MIN_TOKEN_CHARACTERS} or more printable ASCII characters without spaces`,
    (value) => value.length >= MIN_TOKEN_CHARACTERS && /^[\x21-\x7e]+$/.test(value),
  );

/** null: OPS_PORT is not set, and there is no operations page. */
export const operationsEnv: z.ZodType<OperationsConfig | null> = z
  .object({
    OPS_PORT: port().optional(),
    OPS_HOST: text('an address to listen on').default('127.0.0.1'),
    OPS_URL: httpUrl('https://ops.example.org').optional(),
    OPS_TOKEN: token().optional(),
    OPS_READ_TOKEN: token().optional(),
  })
  .transform((env, context) => {
    const { OPS_PORT: opsPort, OPS_HOST: host, OPS_URL: url, OPS_TOKEN, OPS_READ_TOKEN } = env;
    if (opsPort === undefined) return null;
    const wrong = (name: string, message: string) => {
      context.addIssue({ code: 'custom', path: [name], message });
    };
    if (!isLoopback(host)) {
      const others = `because OPS_HOST ${host} can be reached from other machines`;
      if (OPS_TOKEN === undefined && OPS_READ_TOKEN === undefined)
        wrong('OPS_TOKEN', `is missing; set it, or OPS_READ_TOKEN, to a random text, ${others}`);
      if (url === undefined)
        wrong('OPS_URL', `is missing; set it to the URL of the operations page in a browser, ${others}`);
    }
    if (OPS_TOKEN !== undefined && OPS_TOKEN === OPS_READ_TOKEN)
      wrong('OPS_READ_TOKEN', 'is the same as OPS_TOKEN; set it to another text');
    return {
      host,
      port: opsPort,
      url: url === undefined ? null : new URL(url),
      token: OPS_TOKEN ?? null,
      readToken: OPS_READ_TOKEN ?? null,
    };
  });
