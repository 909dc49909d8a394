import { messageOf } from '../messages/error-message.ts';

/** Something that was started and can be stopped. */
export interface Stoppable {
  /** Complete when it resolves; a second call is harmless. */
  stop(): Promise<void>;
}

/** Collects what was started and stops it in reverse order. */
export class Lifecycle implements Stoppable {
  readonly #started: { readonly name: string; readonly stop: () => Promise<unknown> }[] = [];
  #stopping: Promise<void> | null = null;

  /** Registers how to stop something; the last started is stopped first. */
  onStop(name: string, stop: () => Promise<unknown>): void {
    this.#started.push({ name, stop });
  }

  /** Stops everything, even when one part fails; then rejects with the failures, named. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const failures: string[] = [];
    for (const { name, stop } of this.#started.reverse()) {
      await stop().catch((error: unknown) => failures.push(`${name}: ${messageOf(error)}`));
    }
    if (failures.length > 0) throw new Error(`stopping failed: ${failures.join('; ')}`);
  }
}
