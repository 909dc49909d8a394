import { parse } from 'yaml';
import type { EventType } from '../../services/domain/event.ts';
import { readScenario } from '../../simulator/scenario/library.ts';
import type { RawScenario, RawStep } from '../../simulator/scenario/raw-scenario.ts';

/** The scenarios that the console plays, each with the type whose state machine lights up. */
const PLAYED: Readonly<Record<string, EventType>> = {
  'onramp.hold-kyc-resume': 'fiatToCrypto',
  'onramp.happy': 'fiatToCrypto',
  'onramp.failed-then-refunded': 'fiatToCrypto',
  'offramp.hold-kyc-resume': 'cryptoToFiat',
  'offramp.happy': 'cryptoToFiat',
  'offramp.limit-breached': 'cryptoToFiat',
  'kyc.happy': 'KYC',
  'kyc.soft-fail-retry': 'KYC',
};

/** Returns the scenarios of the simulator's library that only emit events, as the console plays them. */
export function consoleScenarios(): object {
  return Object.entries(PLAYED).map(([name, type]) => {
    const { title, teaches, steps } = parse(readScenario(name).text) as RawScenario;
    return { name, title, teaches, type, steps: steps.map((step) => stepOf(name, step)) };
  });
}

function stepOf(scenario: string, { id, emit, set = {}, ...others }: RawStep): object {
  const unplayed = Object.keys(others).filter((word) => word !== 'after');
  if (emit === undefined || unplayed.length > 0)
    throw new Error(
      `${scenario}: the console cannot play the step ${id}: it emits events, and sets their fields`,
    );
  const [type, subType] = emit.split('/');
  const data = Object.entries(set).map(([field, value]) => [field.replace(/^data\./, ''), value]);
  return { type, subType, ...(data.length === 0 ? {} : { data: Object.fromEntries(data) }) };
}
