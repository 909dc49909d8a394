import { expect, it } from 'vitest';
import { sizeOf } from '../long-runs.ts';
import {
  type CreatesResult,
  IN_FORCE_MS,
  type RotationsResult,
  type RotationTrial,
} from './rotation-trial.ts';

/** The size of this run. */
const TRIAL_SIZES = {
  rotations: sizeOf('MANAGEMENT_ROTATIONS'),
  creates: sizeOf('MANAGEMENT_CREATES'),
} as const;

const TRIAL_MS_MAX = 1_800_000;

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

function createsText(engine: string, { creates, unhealthy, missed }: CreatesResult): string {
  return `${engine}: ${creates} creates, ${missed.length} missed the event published a second later, ${unhealthy} with an unresponsive broker`;
}

function rotationsText(engine: string, result: RotationsResult): string {
  const { rotations, healthy, seconds, requests, afterAnswer, latestMs, slow, wrong } = result;
  return (
    `${engine}: ${rotations} rotations in ${seconds.toFixed(1)} s, ${healthy} of them on a healthy broker and machine, during ${requests} ` +
    `requests: ${afterAnswer} used an old secret after the response, the latest ${latestMs} ms after it; ` +
    `${slow} started over ${IN_FORCE_MS} ms after it, ${wrong.length} later than promised`
  );
}
