import type { CauseDeps } from './cause-deps.ts';
import { tellDelays } from './delays.ts';
import { eachInTurn } from './each-in-turn.ts';
import { tellLosses } from './losses.ts';
import { tellQuarantined } from './quarantined.ts';
import { tellSources } from './sources.ts';

/** How often the broker is asked for causes of notices: an engine may have to ask its servers. */
const LOOK_MS = 30_000;

/** Looks for the causes of notices that lie outside the store: in the broker and in the settings. */
export class CauseWatch {
  readonly #deps: CauseDeps;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(deps: CauseDeps) {
    this.#deps = deps;
  }

  /** Looks, unless it did lately. A cause that cannot be looked at does not hold up the others, and is looked at again. */
  async look(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.now() < this.#nextAt) return;
    this.#nextAt = clock.now() + LOOK_MS;
    const causes = [tellSources, tellDelays, tellQuarantined, tellLosses];
    await eachInTurn(causes, (tell) => tell(this.#deps));
  }
}
