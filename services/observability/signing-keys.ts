import { Gauge, type Registry } from 'prom-client';
import { statesAt } from '../keys/key-schedule.ts';
import type { KeyRing } from '../keys/keyring.ts';
import type { Clock } from '../process/clock.ts';

interface KeysDeps {
  readonly keyRing: KeyRing;
  readonly environment: string;
  readonly clock: Clock;
}

/** Exports the platform's signing keys that this process has, so that an operator sees whether each process has a new one. */
export function exportSigningKeys(registry: Registry, { keyRing, environment, clock }: KeysDeps): void {
  new Gauge({
    name: 'hookrail_signing_keys',
    help: 'The signing keys of the platform that this process has, by id and state (next, signing, former); always 1.',
    labelNames: ['kid', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      const states = statesAt(keyRing.signingKeys(environment), environment, clock.system(clock.wall()));
      for (const { key, state } of states) this.set({ kid: key.kid, state }, 1);
    },
  });
}
