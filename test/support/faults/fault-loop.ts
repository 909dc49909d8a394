import { afterAll, it } from 'vitest';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { Chance } from '../../../services/samples/chance.ts';
import { Trial, type TrialOptions } from '../trials/kafka-trial.ts';
import { faultsInAll, injectFaults, type LoopOptions, report, startNemesis } from './loop.ts';
import type { NemesisOptions } from './nemesis.ts';

interface FaultLoop extends LoopOptions, Pick<NemesisOptions, 'pauseMs'> {
  readonly cluster: () => LocalKafka;
  /** The PostgreSQL server that faults strike as well. */
  readonly postgres?: () => NonNullable<NemesisOptions['postgres']>;
  /** The longest time that a fault takes, milliseconds. */
  readonly faultMs?: number;
  /** The numbers of the processes, and their settings. */
  readonly trial: () => Omit<TrialOptions, 'cluster' | 'chance' | 'answerMs' | 'environment'> &
    Partial<Pick<TrialOptions, 'environment'>>;
  /** The longest time until every delivery has ended, milliseconds: a fixed part, and one for each event. */
  readonly endedMs: readonly [number, perEvent: number];
  /** Starts work beside the faults. `end` stops it; `expect` checks its promise once everything is delivered. */
  readonly beside?: (trial: Trial) => { end(): Promise<void>; expect(): Promise<void> };
}

/** Registers a test that injects faults of a printed seed while events are published, and judges the receivers' own log. */
export function faultLoop(options: FaultLoop): void {
  const { seed, events, retryScale, pauseMs = 0, faultMs = 60_000, cluster, postgres, endedMs } = options;
  const faults = faultsInAll(options);
  const endedMsMax = endedMs[0] + events * endedMs[1];
  let trial: Trial | undefined;

  afterAll(() => trial?.abandon(), 60_000);

  it(`loses nothing over ${faults} faults and ${events} events (seed ${seed})`, {
    timeout: 400_000 + faults * faultMs + events * endedMs[1],
  }, async () => {
    const chance = new Chance('fault loop', `${seed}`);
    const { environment, ...processes } = options.trial();
    trial = await Trial.start({
      ...processes,
      ...{ cluster: cluster(), chance, answerMs: [5, 60] },
      environment: { HOOKRAIL_RETRY_SCALE: `${retryScale}`, ...environment },
    });
    const nemesis = startNemesis(trial, cluster(), chance, {
      ...(pauseMs > 0 ? { pauseMs } : {}),
      ...(postgres ? { postgres: postgres() } : {}),
    });
    const beside = options.beside?.(trial);
    await injectFaults(trial, nemesis, options);
    await beside?.end();
    await trial.untilEnded(endedMsMax);
    await report(trial, nemesis, options);
    await beside?.expect();
    await trial.stop();
  });
}
