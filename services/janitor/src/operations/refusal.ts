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
