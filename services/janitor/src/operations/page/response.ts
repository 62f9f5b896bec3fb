import type { RefusalLink } from '@pasteflow/web';

/** What is sent for a request. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Buffer;
}

export function pageResponse(
  body: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): PageResponse {
  return { status, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers }, body };
}

export function redirectTo(
  location: string,
  headers: Readonly<Record<string, string | string[]>> = {},
): PageResponse {
  return { status: 303, headers: { Location: location, ...headers }, body: '' };
}

/** Why a request is not served. The text is for the operator: what is wrong and what to do. */
export class Refusal extends Error {
  readonly status: number;
  readonly title: string;
  /** What to follow instead of the link to the overview. */
  readonly links: readonly RefusalLink[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    {
      title,
      detail,
      links = [],
    }: { readonly title: string; readonly detail: string; readonly links?: readonly RefusalLink[] },
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.title = title;
    this.links = links;
    this.headers = headers;
  }
}

export function notFound(detail: string): Refusal {
  return new Refusal(404, { title: 'Not found', detail });
}
