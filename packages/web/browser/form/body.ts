import type { FormFile } from './form-file.ts';

/** Of a request for a new paste. */
export interface Body {
  readonly content: Blob | FormData;
  /** The options, where the content has no fields. */
  readonly query: URLSearchParams;
}

/** One file goes byte for byte. Its name is the title, where there is no other. */
export function bodyOfFile(
  { name, syntax, content }: FormFile,
  query: URLSearchParams,
  { isEdit, maxTitle }: { readonly isEdit: boolean; readonly maxTitle: number },
): Body {
  if (name !== '' && !query.get('title')) query.set('title', name.slice(0, maxTitle));
  if (syntax !== '' || isEdit) query.set('syntax', syntax);
  return { content, query };
}

/** Several files go as a form. */
export function bodyOfFiles(files: readonly FormFile[], query: URLSearchParams): Body {
  const content = new FormData();
  for (const [name, value] of query) content.append(name, value);
  content.append('file_syntaxes', files.map(({ syntax }) => syntax).join(','));
  for (const file of files) content.append('file', file.content, file.name);
  return { content, query: new URLSearchParams() };
}

/** A type of its own keeps a file that happens to be a form or JSON from being read as one. */
export function postBody(
  url: string,
  { content, query }: Body,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(`${url}?${query}`, {
    method: 'POST',
    body: content,
    headers: {
      Accept: 'text/html',
      ...(content instanceof Blob && { 'Content-Type': 'application/octet-stream' }),
      ...headers,
    },
    redirect: 'error',
  });
}

/** An Idempotency-Key. */
export function newKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
}
