import type { Worker } from 'node:worker_threads';
import { PositionLost } from '../../domain/journal.ts';
import { asError } from '../../messages/error-message.ts';
import { CursorInvalid, MerchantClosed, RecordRefused, StoreConflict } from '../change.ts';
import { StoreUnavailable } from '../store.ts';

/** One operation requested from a worker thread. */
export interface Call {
  readonly id: number;
  readonly op: string;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

export interface Failure {
  readonly kind: 'unavailable' | 'cursor' | 'conflict' | 'position' | 'refused' | 'closed' | 'other';
  readonly message: string;
}

/** A message of a worker thread: first that it is ready, then replies, several at once. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'replies'; readonly replies: readonly Reply[]; readonly hasOutboxRows: boolean }
  | { readonly kind: 'broken'; readonly message: string };

type Operations = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** The main thread's side of a worker: operations as promises. */
export class ThreadCalls<Ops extends Operations> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #ended: Error | null = null;
  /** Resolves when the thread has ended; with the reason when it was not asked to. */
  readonly exited: Promise<Error | null>;
  /** Called when the thread reports that its file is damaged. */
  onBroken: (error: Error) => void = () => {};
  /** Called when a transaction with outbox rows was committed, before its calls resolve. */
  onOutboxRows: () => void = () => {};

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.exited = new Promise((resolve) => {
      let cause: Error | null = null;
      worker.on('error', (error) => {
        cause = asError(error);
      });
      worker.on('exit', (code) => {
        const reason = cause ?? (code === 0 ? null : new Error(`a store thread ended with code ${code}`));
        this.#end(reason);
        resolve(reason);
      });
    });
  }

  /** Waits until the thread is ready. Rejects with a one-line reason when it cannot start. */
  static async start<Ops extends Operations>(worker: Worker): Promise<ThreadCalls<Ops>> {
    const calls = new ThreadCalls<Ops>(worker);
    await new Promise<void>((resolve, reject) => {
      void calls.exited.then((reason) => reject(reason ?? new Error('a store thread ended while starting')));
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'ready') resolve();
        else if (message.kind === 'refused') reject(new Error(message.message));
        else calls.#receive(message);
      });
    });
    return calls;
  }

  call<Op extends keyof Ops & string>(
    op: Op,
    args: Parameters<Ops[Op]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Awaited<ReturnType<Ops[Op]>>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(new StoreUnavailable(this.#ended.message));
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, op, args } satisfies Call, transfer);
    });
  }

  /** Ends the thread after its last call, by force when it does not end by itself. Resolves when it has ended. */
  async close(op: keyof Ops & string): Promise<void> {
    const last = this.call(op, [] as never);
    await last.catch(() => this.#worker.terminate());
    await this.exited;
  }

  #receive(message: FromThread): void {
    if (message.kind === 'broken') this.onBroken(new Error(message.message));
    if (message.kind !== 'replies') return;
    if (message.hasOutboxRows) this.onOutboxRows();
    for (const reply of message.replies) {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ('value' in reply) waiting?.resolve(reply.value as never);
      else waiting?.reject(toError(reply.failure));
    }
  }

  #end(reason: Error | null): void {
    this.#ended = reason ?? new Error('the store is closed');
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(this.#ended.message));
    this.#waiting.clear();
  }
}

function toError({ kind, message }: Failure): Error {
  switch (kind) {
    case 'unavailable':
      return new StoreUnavailable(message);
    case 'cursor':
      return new CursorInvalid(message);
    case 'conflict':
      return new StoreConflict(message);
    case 'position':
      return new PositionLost(message);
    case 'refused':
      return new RecordRefused(message);
    case 'closed':
      return new MerchantClosed(message);
    case 'other':
      return new Error(message);
  }
}
