import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../services/messages/error-message.ts';

/** The time limit for one response of a child. */
const ANSWER_MS_MAX = 600_000;

type Answer = { readonly id: number; readonly value?: unknown; readonly error?: string };
type Question = { readonly id: number; readonly method: string; readonly argument: unknown };
type Methods = Record<string, (argument: never) => unknown>;

/** A part of the benchmark in its own process, so that its CPU time is separate. */
export interface Child {
  readonly process: ChildProcess;
  /** Calls a method of the child and resolves with its result; rejects when it throws, exits, or exceeds ten minutes. */
  ask<Value>(method: string, argument?: unknown): Promise<Value>;
  stop(): Promise<void>;
}

/** Starts `file` (relative to this folder) as a child that calls `answer` or implements the same protocol. */
export function startChild(file: string, options: ForkOptions = {}): Child {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: file.endsWith('.ts') ? ['--import', 'tsx'] : [],
    serialization: 'advanced',
    ...options,
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  let gone: string | null = null;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      gone = `${file} exited (${signal ?? code})`;
      for (const [id, settle] of waiting) settle({ id, error: gone });
      resolve();
    });
  });
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
  const ask = <Value>(method: string, argument?: unknown) =>
    new Promise<Value>((resolve, reject) => {
      if (gone) return reject(new Error(gone));
      const id = ++lastId;
      const timer = setTimeout(
        () => settle({ id, error: `${file} did not respond to "${method}"` }),
        ANSWER_MS_MAX,
      );
      const settle = (answer: Answer) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (answer.error === undefined) resolve(answer.value as Value);
        else reject(new Error(answer.error));
      };
      waiting.set(id, settle);
      // A child that has exited is detected by its exit event, or here.
      child.send({ id, method, argument } satisfies Question, (error) => {
        if (error) settle({ id, error: `${file} cannot be reached: ${error.message}` });
      });
    });
  const stop = () => {
    if (!gone) child.kill('SIGTERM');
    return exited;
  };
  return { process: child, ask, stop };
}

/** The child's side: calls the requested method and returns its result. Exits when the parent is gone. */
export function answer(methods: Methods): void {
  process.on('message', async ({ id, method, argument }: Question) => {
    const reply: Answer = await Promise.resolve()
      .then(() => (methods[method] as (argument: unknown) => unknown)(argument))
      .then(
        (value) => ({ id, value }),
        (error: unknown) => ({ id, error: messageOf(error) }),
      );
    process.send?.(reply);
  });
  process.once('disconnect', () => process.exit(0));
}
