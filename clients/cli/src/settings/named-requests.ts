import { isRequestCode } from '@pasteflow/domain';
import { BrokenLinkError, publicPartOf, wrapKey } from '@pasteflow/sealed/wrapped-keys';
import { UsageError } from '../errors.ts';
import { withFragment } from './named.ts';
import { isReadableByOthers, serverOf } from './settings.ts';

/** A request as an address names it. */
interface RequestLink {
  readonly server: string;
  readonly id: string;
  /** `/my/requests/ID`, the page of who asks. */
  readonly isOwn: boolean;
  /** Behind the `#`. */
  readonly fragment: string;
}

/** A request of the user. */
export interface NamedRequest {
  readonly id: string;
  /** null: only a private link has it. */
  readonly privatePart: string | null;
}

/**
 * Reads the id of a request, its link or its private link.
 * @returns null: the argument names something else
 * @throws UsageError for a damaged private link, and for a link of another server, which must not get the token
 */
export function findNamedRequest(argument: string, server: string): NamedRequest | null {
  if (isRequestCode(argument)) return { id: argument, privatePart: null };
  const link = linkIn(argument);
  if (link === null) return null;
  if (link.server !== server)
    throw new UsageError(
      `The link belongs to another server than ${server}. Choose it with --server ${link.server}.`,
    );
  if (!link.isOwn || link.fragment === '') return { id: link.id, privatePart: null };
  try {
    publicPartOf(link.fragment);
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
  return { id: link.id, privatePart: link.fragment };
}

/** @throws UsageError */
export function requestNamedBy(argument: string, server: string): NamedRequest {
  const named = findNamedRequest(argument, server);
  if (named !== null) return named;
  // Without the argument, which may have a private key.
  throw new UsageError('Name a request by its id, or by its private link: quote the link.');
}

/** Where a depositor was sent. */
export interface DepositPlace {
  readonly server: string;
  readonly id: string;
  readonly publicPart: string;
}

/** Reads the link that a depositor has got, before anybody types a secret. @throws UsageError */
export async function depositPlaceOf(argument: string): Promise<DepositPlace> {
  const link = linkIn(argument);
  if (link === null)
    throw new UsageError(
      'This is no link for a deposit. Such a link is https://SERVER/requests/ID#KEY. Quote it.',
    );
  const { server, id, isOwn, fragment } = link;
  if (isOwn)
    throw new UsageError(
      `This is the private link of who asks, and whoever has it can open every deposit. The link for a deposit begins with ${server}/requests/ID#.`,
    );
  if (isReadableByOthers(server))
    throw new UsageError(
      `${server} is not encrypted: others on the network could have changed the link, or who asks. Ask for a link with https.`,
    );
  try {
    await wrapKey(new Uint8Array(32), id, fragment);
  } catch (cause) {
    if (!(cause instanceof BrokenLinkError)) throw cause;
    throw new UsageError(`${cause.message} Copy the whole link, and quote it.`, { cause });
  }
  return { server, id, publicPart: fragment };
}

/** Whether an address of the server is that of the page for depositors. */
export function isLinkOf(url: string, id: string): boolean {
  const link = linkIn(String(url));
  return link?.id === id && !link.isOwn;
}

function linkIn(given: string): RequestLink | null {
  const argument = withFragment(given.trim());
  const url = URL.canParse(argument) ? new URL(argument) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return null;
  const parts = url.pathname.replace(/\/$/, '').split('/');
  const id = parts.pop() ?? '';
  if (parts.pop() !== 'requests' || !isRequestCode(id)) return null;
  const isOwn = parts.at(-1) === 'my';
  const base = isOwn ? parts.slice(0, -1) : parts;
  return {
    server: serverOf(`${url.origin}${base.join('/')}`),
    id,
    isOwn,
    fragment: url.hash.slice(1),
  };
}
