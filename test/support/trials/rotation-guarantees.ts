import { expect, it } from 'vitest';
import {
  createsText,
  type RotationTrial,
  rotationsText,
  TRIAL_MS_MAX,
  TRIAL_SIZES,
} from './rotation-trial.ts';

/** Declares the guarantees of rotations and creates, for every engine, as tests. `trial` is called when a test runs. */
export function rotationGuarantees(engine: string, trial: () => RotationTrial): void {
  it(`no attempt uses an old secret through ${TRIAL_SIZES.rotations} rotations under load`, {
    timeout: TRIAL_MS_MAX,
  }, async () => {
    const result = await trial().rotate(TRIAL_SIZES.rotations);
    console.log(rotationsText(engine, result));
    expect(result.wrong).toEqual([]);
    // Positive control: requests arrived while secrets were replaced.
    expect(result.requests).toBeGreaterThan(TRIAL_SIZES.rotations / 2);
  });

  it(`each of ${TRIAL_SIZES.creates} new endpoints gets an event published a second after its creation`, {
    timeout: TRIAL_MS_MAX,
  }, async () => {
    const result = await trial().create(TRIAL_SIZES.creates);
    console.log(createsText(engine, result));
    expect(result.missed).toEqual([]);
    expect(result.unhealthy).toBeLessThan(result.creates / 2);
  });
}
