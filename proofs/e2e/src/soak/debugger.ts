import type { Service } from '../service.ts';

/** The setting with which a process listens for a debugger, on a free port of this machine alone. */
export const LISTENING = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

interface Answer {
  readonly usedSize?: number;
  readonly backingStorageSize?: number;
  readonly exceptionDetails?: object;
}

/** A connection to the debugger in a service. */
export class Debugger {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<never>;
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: Answer };
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
    this.#ended = new Promise((_, reject) => {
      socket.addEventListener('close', () => reject(new Error('the service has ended')));
    });
    this.#ended.catch(() => {}); // of no interest while nobody asks
  }

  static async connect(service: Service): Promise<Debugger> {
    const [, url] = /^Debugger listening on (ws:\S+)/m.exec(service.output.join('\n')) ?? [];
    if (url === undefined) throw new Error(`${service.name} listens for no debugger`);
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new Debugger(socket);
  }

  /** The bytes that are left after a full garbage collection, those of buffers included. */
  async liveBytes(): Promise<number> {
    await this.#ask('HeapProfiler.collectGarbage');
    const { usedSize = NaN, backingStorageSize = NaN } = await this.#ask('Runtime.getHeapUsage');
    return usedSize + backingStorageSize;
  }

  /** Runs a script in the service. */
  async run(expression: string): Promise<void> {
    const { exceptionDetails } = await this.#ask('Runtime.evaluate', { expression });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
  }

  close(): void {
    this.#socket.close();
  }

  async #ask(method: string, params: object = {}): Promise<Answer> {
    const id = (this.#asked += 1);
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return await Promise.race([answer, this.#ended]);
  }
}
