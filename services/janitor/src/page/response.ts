/** What is sent for a request. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export function pageResponse(
  body: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): PageResponse {
  return { status, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers }, body };
}

export function redirectTo(location: string): PageResponse {
  return { status: 303, headers: { Location: location }, body: '' };
}

/** Why a request is not served. The text is for the operator: what is wrong and what to do. */
export class Refusal extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    { title, detail }: { readonly title: string; readonly detail: string },
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = 'Refusal';
    this.status = status;
    this.title = title;
    this.headers = headers;
  }
}

export function notFound(detail: string): Refusal {
  return new Refusal(404, { title: 'Not found', detail });
}
