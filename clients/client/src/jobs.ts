import type {
  Asset,
  AssetFilter,
  Job,
  JobFilter,
  ListedJob,
  NewJob,
  QueuedJob,
  Timeline,
} from './api-types.ts';
import { JobFailedError } from './errors.ts';
import { followEvents, type EventsOptions, type JobEvent } from './events.ts';
import { Listing } from './listing.ts';
import type { Transport } from './transport.ts';
import {
  type CallOptions,
  type CreateOptions,
  newIdempotencyKey,
  type PollResult,
  preferWait,
  type WaitOptions,
  waitUntilSettled,
} from './waiting.ts';

export interface JobWaitOptions extends WaitOptions {
  /** Called with the job after the first poll, and whenever its status, progress or message has changed. */
  readonly onProgress?: ((job: Job) => void) | undefined;
}

export interface CreateJobOptions extends CreateOptions, JobWaitOptions {}

export class Jobs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @throws JobFailedError with `wait`, when the job has failed */
  create(job: NewJob, options: CreateJobOptions & { readonly wait: true }): Promise<Job>;
  create(job: NewJob, options?: CreateJobOptions & { readonly wait?: false }): Promise<QueuedJob>;
  async create(
    job: NewJob,
    { wait = false, idempotencyKey = newIdempotencyKey(), signal, ...waiting }: CreateJobOptions = {},
  ): Promise<QueuedJob | Job> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { data: queued } = await this.#transport.call(
      (api, init) => api.POST('/v1/jobs', { body: job, headers, ...init }),
      { signal },
    );
    return wait ? await this.wait(queued.job_id, { signal, ...waiting }) : queued;
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Job> {
    return await this.#get(id, {}, signal);
  }

  /** Resolves when the job is completed or partial. @throws JobFailedError, PasteflowTimeoutError */
  async wait(id: string, { onProgress, ...options }: JobWaitOptions = {}): Promise<Job> {
    let reported = '';
    // The server only waits for the end. For progress the client polls.
    const header = onProgress === undefined ? preferWait(this.#transport.policy) : {};
    return await waitUntilSettled(`job ${id}`, options, async (signal): Promise<PollResult<Job>> => {
      const job = await this.#get(id, header, signal);
      const news = JSON.stringify([job.status, job.progress, job.progress_message]);
      if (news !== reported) onProgress?.(job);
      reported = news;
      switch (job.status) {
        case 'completed':
        case 'partial':
          return { settled: job };
        case 'failed':
          throw new JobFailedError(job);
        case 'queued':
        case 'processing':
          return { pending: job.status };
        default:
          return job.status satisfies never;
      }
    });
  }

  /**
   * Ends a job that waits or runs: `failed`, or `partial` when it has assets, which stay. Cancelling it again
   * changes nothing.
   * @throws PasteflowApiError job_ended when the job ended by itself before
   */
  async cancel(id: string, { signal }: CallOptions = {}): Promise<Job> {
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/jobs/{id}/cancel', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data;
  }

  /**
   * Retries a job that is `failed` or `partial`, as a new job. That of an export begins from nothing.
   * @returns the id of the new job
   * @throws PasteflowApiError job_not_retryable
   */
  async retry(id: string, { signal }: CallOptions = {}): Promise<string> {
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/jobs/{id}/retry', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data.job_id;
  }

  /** The caller's own jobs, newest first. */
  list({ signal, ...filter }: JobFilter & CallOptions = {}): Listing<ListedJob> {
    return new Listing(async (place) => {
      const query = { ...filter, ...place };
      const { data } = await this.#transport.call(
        (api, init) => api.GET('/v1/jobs', { params: { query }, ...init }),
        { signal },
      );
      return { items: data.jobs, nextCursor: data.next_cursor };
    });
  }

  /** The assets that the job has made so far, newest first. */
  assets(id: string, { signal, ...filter }: AssetFilter & CallOptions = {}): Listing<Asset> {
    return new Listing(async (place) => {
      const params = { path: { id }, query: { ...filter, ...place } };
      const { data } = await this.#transport.call(
        (api, init) => api.GET('/v1/jobs/{id}/assets', { params, ...init }),
        { signal },
      );
      return { items: data.assets, nextCursor: data.next_cursor };
    });
  }

  /** The transitions of the job and of its executions, oldest first. */
  async timeline(id: string, { signal }: CallOptions = {}): Promise<Timeline> {
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/jobs/{id}/timeline', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data;
  }

  /** The job's events as they happen, from the first to its end. */
  events(id: string, options: EventsOptions = {}): AsyncIterableIterator<JobEvent> {
    const open = async (after: string | undefined): Promise<Response> => {
      const params = { path: { id }, header: after === undefined ? {} : { 'Last-Event-ID': after } };
      const { response } = await this.#transport.call(
        (api, init) => api.GET('/v1/jobs/{id}/events', { params, parseAs: 'stream', ...init }),
        { signal: options.signal, streamed: true },
      );
      return response;
    };
    return followEvents(open, options, this.#transport.policy.maxTries);
  }

  async #get(id: string, header: { Prefer?: string }, signal: AbortSignal | undefined): Promise<Job> {
    const params = { path: { id }, header };
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/jobs/{id}', { params, ...init }),
      { signal },
    );
    return data;
  }
}
