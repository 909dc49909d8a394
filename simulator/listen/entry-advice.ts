import type { Output } from '../output.ts';
import type { ForwardTarget } from './forward-target.ts';
import type { Entry } from './intake.ts';

/** Says what helps when webhooks fail at the app: once, until one succeeds. */
export class EntryAdvice {
  readonly #output: Output;
  readonly #target: ForwardTarget;
  #said = '';

  constructor(output: Output, target: ForwardTarget) {
    this.#output = output;
    this.#target = target;
  }

  after(entry: Entry): void {
    const help = this.#helpFor(entry);
    if (help !== undefined && help !== this.#said) this.#output.advise({ says: '', next: [help] });
    this.#said = help ?? '';
  }

  #helpFor({ result }: Entry): string | undefined {
    const { url, isLocal } = this.#target;
    if (result.kind === 'unreachable') {
      if (result.code === 'ECONNREFUSED') {
        return isLocal ? 'start your app; hookrail tries again by itself, and r resends' : undefined;
      }
      return undefined;
    }
    if (result.kind !== 'answered') return undefined;
    if (result.status === 401 || result.status === 403) {
      return `your app refuses it: does it know the secret? hookrail sim listen --forward-to ${url.href} --print-secret`;
    }
    if (result.status === 404)
      return `your app has no ${url.pathname}: start listen with the path of its handler`;
    return undefined;
  }
}
