import type { Response } from 'express';

/** The whole of a small answer, made before it is sent: so it can be kept and sent again. */
export interface Answer {
  readonly status: number;
  /** Those that are its own, Content-Type among them; not those that go with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonAnswer(
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

export function textAnswer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

export function sendAnswer(res: Response, { status, headers, body }: Answer): void {
  const { Location, ...others } = headers;
  if (Location !== undefined) res.location(Location); // which encodes what a header can't hold
  res.status(status).set(others).send(body);
}
