/** What is sent for a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export function pageAnswer(
  body: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers }, body };
}

export function redirectTo(location: string): Answer {
  return { status: 303, headers: { Location: location }, body: '' };
}
