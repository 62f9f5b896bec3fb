import type { Response } from 'express';

/** A complete small answer, built before it is sent so that it can be stored and replayed. */
export interface Answer {
  readonly status: number;
  /** Its own headers, including Content-Type, without those of every answer. */
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
  if (Location !== undefined) res.location(Location); // encodes characters that a header can't hold
  res.status(status).set(others).send(body);
}
