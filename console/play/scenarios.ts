import type { EventType } from '../../services/domain/event.ts';
import scenarios from '../generated/scenarios.json' with { type: 'json' };

export interface PlayStep {
  readonly type: EventType;
  readonly subType: string;
  /** Fields that replace those of the sample. */
  readonly data?: Readonly<Record<string, string | number>>;
}

/** A scenario of the simulator's library, as the console plays it. */
export interface PlayScenario {
  /** As `hookrail sim run` takes it. */
  readonly name: string;
  readonly title: string;
  readonly teaches: string;
  /** Whose state machine lights up. */
  readonly type: EventType;
  readonly steps: readonly PlayStep[];
}

export const SCENARIOS = scenarios as readonly PlayScenario[];
