import { Client } from 'pg';

const EXAMPLE = 'set it to a URL like postgres://user:password@127.0.0.1:5432/pasteflow';

const SEVERAL_HOSTS =
  'names several hosts, and pg connects to one; set it to an address that always leads to the primary: ' +
  'that of a pooler, a proxy or a virtual IP';

const ENCODING = 'write % as %25, @ as %40, / as %2F, : as %3A, ? as %3F, # as %23 and a blank as %20';

/**
 * Why pg can't connect with this DATABASE_URL, without the value, which may hold a password; null: it can.
 * pg itself reads the URL here, which accepts forms that `URL` refuses.
 */
export function databaseUrlProblem(url: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(url))
    return `is not a URL that starts with postgres:// or postgresql://; ${EXAMPLE}`;
  if (/[\s#]|%(?![0-9a-f]{2})/i.test(url))
    return `contains a blank, a # or a lone %; ${EXAMPLE}. In the name and the password, ${ENCODING}`;
  try {
    const { host } = new Client({ connectionString: url });
    return host.includes(',') ? SEVERAL_HOSTS : null;
  } catch (error) {
    return `can't be used (${(error as Error).message}); ${EXAMPLE}, with one host. In the name and the password, ${ENCODING}`;
  }
}

/**
 * As text: `URL` refuses forms that pg accepts, such as `postgres://user@/pasteflow?host=/run/postgresql`.
 */
export function splitUrl(url: string): { readonly address: string; readonly parameters: URLSearchParams } {
  const end = url.includes('?') ? url.indexOf('?') : url.length;
  return { address: url.slice(0, end), parameters: new URLSearchParams(url.slice(end + 1)) };
}
