/** The REST API of GitHub, for one repository. */
export class GitHub {
  readonly #url: string;
  readonly #token: string;

  constructor(api: string, repository: string, token: string) {
    this.#url = `${api}/repos/${repository}`;
    this.#token = token;
  }

  async get<Answer>(path: string): Promise<Answer> {
    return (await (await this.#ask('GET', path)).json()) as Answer;
  }

  /** undefined: there is none. */
  async find<Answer>(path: string): Promise<Answer | undefined> {
    const response = await this.#ask('GET', path, { allowed: 404 });
    return response.status === 404 ? undefined : ((await response.json()) as Answer);
  }

  /** The content of a file of up to 100 MB. */
  async read(path: string): Promise<string> {
    return await (await this.#ask('GET', path, { accept: 'application/vnd.github.raw+json' })).text();
  }

  async send<Answer>(method: 'POST' | 'PATCH', path: string, body: object): Promise<Answer> {
    return (await (await this.#ask(method, path, { body })).json()) as Answer;
  }

  async #ask(
    method: string,
    path: string,
    {
      body,
      allowed,
      accept = 'application/vnd.github+json',
    }: { body?: object; allowed?: number; accept?: string } = {},
  ): Promise<Response> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { accept, authorization: `Bearer ${this.#token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok && response.status !== allowed)
      throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`);
    return response;
  }
}
