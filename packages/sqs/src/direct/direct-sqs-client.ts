import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { SignedRequests } from '@pasteflow/signed-requests';
import { answerError } from './answer-error.ts';
import { checkReceived, checkSent } from './check-bodies.ts';
import { decodeReceived } from './decode-received.ts';
import { sha256 } from './digests.ts';

export interface DirectOptions {
  readonly maxSockets: number;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/**
 * Sends the three requests that every paste needs without the SDK's middleware (ADR 59), and all others as the SDK does. Inputs, outputs
 * and errors are those of the SDK.
 */
export class DirectSqsClient extends SQSClient {
  readonly #options: DirectOptions;
  #connecting: Promise<{ readonly requests: SignedRequests; readonly path: string }> | undefined;

  constructor(config: SQSClientConfig, options: DirectOptions) {
    super(config);
    this.#options = options;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the SDK's method has a type parameter for each command, and callbacks
  override send(command: any, options?: any, callback?: any): any {
    const signal = options?.abortSignal as AbortSignal | undefined;
    if (command instanceof ReceiveMessageCommand) return this.#receive(command, signal);
    if (command instanceof SendMessageBatchCommand) return this.#sendBatch(command, signal);
    if (command instanceof DeleteMessageBatchCommand)
      return this.#call('DeleteMessageBatch', command.input, signal);
    return super.send(command, options, callback);
  }

  override destroy(): void {
    super.destroy();
    this.#connecting?.then(({ requests }) => requests.close()).catch(() => {}); // never connected: nothing to close
  }

  async #receive({ input }: ReceiveMessageCommand, signal: AbortSignal | undefined): Promise<unknown> {
    const output = decodeReceived(await this.#call('ReceiveMessage', input, signal));
    checkReceived(output);
    return output;
  }

  async #sendBatch({ input }: SendMessageBatchCommand, signal: AbortSignal | undefined): Promise<unknown> {
    const output = await this.#call('SendMessageBatch', input, signal);
    checkSent(input, output);
    return output;
  }

  async #call(operation: string, input: object, signal: AbortSignal | undefined): Promise<object> {
    const { requests, path } = await this.#connected();
    const body = JSON.stringify(input);
    const headers = {
      'content-length': String(Buffer.byteLength(body)),
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `AmazonSQS.${operation}`,
    };
    const { text } = await requests.send({
      method: 'POST',
      path,
      headers,
      sha256: sha256(body),
      body,
      signal,
    });
    return JSON.parse(text) as object;
  }

  #connected() {
    this.#connecting ??= this.#connect().catch((error: unknown) => {
      this.#connecting = undefined;
      throw error;
    });
    return this.#connecting;
  }

  /** The address is resolved by the SDK's own rules: a custom endpoint, the region, FIPS and dual-stack endpoints. */
  async #connect() {
    const { url, properties } = await getEndpointFromInstructions(
      {},
      SendMessageBatchCommand,
      this.config as unknown as Parameters<typeof getEndpointFromInstructions>[2],
    );
    const [scheme] = (properties?.authSchemes ?? []) as { signingRegion?: string }[];
    const { maxSockets, connectTimeoutMs, requestTimeoutMs } = this.#options;
    const requests = new SignedRequests({
      client: this,
      url,
      service: 'sqs',
      region: scheme?.signingRegion ?? (await this.config.region()),
      connections: maxSockets,
      connectTimeoutMs,
      timeoutMs: requestTimeoutMs,
      bodyTimeoutMs: requestTimeoutMs,
      errorOf: answerError,
    });
    return { requests, path: url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/` };
  }
}
