import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guard } from '../guard/guard.ts';

const STOP_MS = 6_000;
const READY_MS = 120_000;
const PROBE_EVERY_MS = 100;

interface JavaProgram {
  /** The name in messages, for example "Kafka node 2". */
  readonly name: string;
  readonly java: string;
  readonly args: readonly string[];
  /** The file to which its output is appended. */
  readonly logFile: string;
  /** Resolves with true when it is ready. A rejection means "not yet". */
  readonly isReady: () => Promise<boolean>;
  /** Called with a one-line reason when it exits unexpectedly after it was ready. */
  readonly onUnexpectedEnd: (reason: string) => void;
  readonly guard: Guard;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<void>;
  /** Whether its exit was requested, and so is not reported. */
  isExitRequested: boolean;
  isReady: boolean;
}

/** A Java program that can be killed, stopped, paused and restarted, always with the same command. */
export class JavaProcess {
  readonly #program: JavaProgram;
  #running: Running | undefined;

  constructor(program: JavaProgram) {
    this.#program = program;
  }

  /** The process id; undefined when it is not running. */
  get pid(): number | undefined {
    return this.#running?.pid;
  }

  /** Starts it and resolves when it is ready; rejects with one line when it exits before, or is not ready after 120 s. */
  async start(): Promise<void> {
    const { name, isReady } = this.#program;
    const running = this.#spawn();
    const until = Date.now() + READY_MS;
    for (;;) {
      if (this.#running !== running)
        throw new Error(`${name} exited before it was ready: ${this.#lastWords()}`);
      if (await isReady().catch(() => false)) break;
      if (Date.now() > until) {
        throw new Error(`${name} was not ready after ${READY_MS / 1000} s: ${this.#lastWords()}`);
      }
      await sleep(PROBE_EVERY_MS);
    }
    running.isReady = true;
  }

  /** Simulates a crash with SIGKILL. Resolves when it has exited. */
  async kill(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    running.isExitRequested = true;
    running.child.kill('SIGKILL');
    await running.ended;
  }

  /** Sends SIGTERM, and SIGKILL after `patienceMs`: Kafka waits forever for nodes that stop at the same time. */
  async stop(patienceMs = STOP_MS): Promise<void> {
    const running = this.#running;
    if (!running) return;
    running.isExitRequested = true;
    running.child.kill('SIGCONT');
    running.child.kill('SIGTERM');
    const patience = new AbortController();
    await Promise.race([running.ended, sleep(patienceMs, undefined, patience).catch(() => {})]);
    patience.abort();
    if (this.#running === running) await this.kill();
  }

  /** Stops it if it is running, starts it on the same ports and data, and resolves when it is ready. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Pauses it with SIGSTOP: it hangs with its connections open. */
  pause(): void {
    this.#running?.child.kill('SIGSTOP');
  }

  /** Resumes it with SIGCONT. */
  resume(): void {
    this.#running?.child.kill('SIGCONT');
  }

  #spawn(): Running {
    const { name, java, args, logFile, onUnexpectedEnd, guard } = this.#program;
    if (this.#running) throw new Error(`${name} is already running (pid ${this.#running.pid}).`);
    const log = openSync(logFile, 'a');
    // Its own session, so that Ctrl-C in a terminal reaches only this process, which stops everything in order.
    const child = spawn(java, args, { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    const pid = child.pid;
    if (pid === undefined) {
      child.once('error', () => {});
      throw new Error(`${name} cannot be started: ${java} cannot be run.`);
    }
    guard.watch(pid);
    const ended = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        guard.forget(pid);
        this.#running = undefined;
        resolve();
        if (running.isExitRequested || !running.isReady) return;
        onUnexpectedEnd(`${name} exited unexpectedly (${signal ?? `code ${code}`}): ${this.#lastWords()}`);
      });
    });
    const running: Running = { child, pid, ended, isExitRequested: false, isReady: false };
    this.#running = running;
    return running;
  }

  /** Returns the most informative line of its log, for a one-line message. */
  #lastWords(): string {
    const lines = readFileSync(this.#program.logFile, 'utf8').split('\n').filter(Boolean);
    const error = lines.findLast((line) => /\b(ERROR|FATAL)\b|Exception|^Error/.test(line));
    return (error ?? lines.at(-1) ?? 'its log is empty').trim().slice(0, 400);
  }
}
