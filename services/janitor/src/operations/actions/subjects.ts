import { isRequestCode, isShortCode, isUuid } from '@pasteflow/domain';
import { findUserId, type Database } from '@pasteflow/postgres';
import { quote } from '@pasteflow/service-kit';

/** How a command names what an action is for. */
export interface Subject {
  /** In the usage, e.g. `CODE`. */
  readonly shown: string;
  /** `retry takes …` */
  readonly words: string;
  /** @returns the subject as the action takes it; null: the text names none */
  readonly read: (text: string) => string | null;
  /** The option that has it. Default: it is the argument. */
  readonly option?: SubjectOption;
  /** Looks up the subject by what was read. @throws Error when there is none */
  readonly find?: (db: Database, read: string) => Promise<string>;
}

type SubjectOption = 'user' | 'all-failed-since';

export const paste: Subject = {
  shown: 'CODE',
  words: 'the short code of a paste',
  read: (text) => codeOrId(text, isShortCode),
};

export const job: Subject = {
  shown: 'JOB',
  words: 'the id of a job',
  read: (text) => codeOrId(text, isUuid),
};

/** Also the link that depositors have, with the key behind it, which is left out. */
export const secretRequest: Subject = {
  shown: 'REQUEST',
  words: 'the id or the link of a request for secrets',
  read: (text) => codeOrId(text, isRequestCode),
};

export const webhook: Subject = {
  shown: 'ID',
  words: 'the id of an endpoint of a webhook',
  read: (text) => codeOrId(text, isUuid),
};

/** A hash, whose `sha256:` may be left out, or a paste with the content. */
export const content: Subject = {
  shown: 'HASH',
  words: 'a SHA-256 in hex, or the short code of a paste',
  read: (text) => {
    const hex = text.toLowerCase().replace(/^sha256:/, '');
    return /^[0-9a-f]{64}$/.test(hex) ? `sha256:${hex}` : codeOrId(text, isShortCode);
  },
};

export const kindOfWork: Subject = {
  shown: 'KIND',
  words: 'a kind of work, such as uploads or export',
  read: (text) => text || null,
};

export const userId: Subject = {
  shown: 'ID',
  words: '--user with the id of a user',
  option: 'user',
  read: (text) => {
    const id = text.toLowerCase();
    return isUuid(id) ? id : null;
  },
};

/** Records keep the id of the user alone. */
export const userName: Subject = {
  shown: 'NAME',
  words: 'the name of a user',
  read: (text) => text || null,
  find: async (db, name) => {
    const id = await findUserId(db, name);
    if (id === null) throw new Error(`there is no user ${quote(name)}; the name must match exactly`);
    return id;
  },
};

export const failedSince: Subject = {
  shown: 'TIME',
  words: '--all-failed-since with a time such as 2026-11-22T04:00Z',
  option: 'all-failed-since',
  read: (text) => {
    const since = new Date(text);
    return Number.isNaN(since.getTime()) ? null : `since ${since.toISOString()}`;
  },
};

/** The text itself, or the end of a URL, without what follows `#`. An id is written in lower case. */
export function codeOrId(text: string, isWanted: (text: string) => boolean = () => true): string | null {
  const last = text.split('#', 1)[0]?.split('/').at(-1) ?? '';
  const id = last.toLowerCase();
  const read = isUuid(id) ? id : isShortCode(last) ? last : null;
  return read !== null && isWanted(read) ? read : null;
}
