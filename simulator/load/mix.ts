import { existsSync } from 'node:fs';
import { parse } from 'yaml';
import type { DomainEvent } from '../../services/domain/event.ts';
import { errorLine } from '../../services/messages/error-message.ts';
import { Chance } from '../../services/samples/chance.ts';
import { usage } from '../exit.ts';
import { scenarioNames } from '../scenario/library.ts';
import { openScenario } from '../scenario/open-scenario.ts';
import { madeUpEntity, planFromNow } from '../scenario/plan.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { unreadable } from '../session.ts';
import { readText } from '../text-file.ts';

/** Scenarios that are played, each as often as its weight says. */
export type Mix = readonly { readonly scenario: Scenario; readonly weight: number }[];

const MIX_DEFAULT = { 'onramp.happy': 6, 'offramp.happy': 3, 'kyc.happy': 1 };
const WEIGHT_MAX = 1_000_000;

/** Reads a mix: a YAML file with a weight per scenario, or the name of one scenario. */
export function readMix(given: string | undefined): Mix {
  if (given === undefined) return mixOf(MIX_DEFAULT, 'the default mix');
  if (scenarioNames().includes(given)) return mixOf({ [given]: 1 }, given);
  let text: string;
  try {
    text = readText(given);
  } catch (error) {
    if (existsSync(given) || /[/\\.]ya?ml$/.test(given)) throw unreadable(given, error);
    throw usage(
      `--mix: ${given} is neither a file nor a scenario`,
      'a mix has a line per scenario, such as "onramp.happy: 6"; scenarios: hookrail sim scenarios list',
    );
  }
  return mixOf(parseMix(text, given), given);
}

function parseMix(text: string, source: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw usage(`${source}: ${errorLine(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw usage(`${source} must have a weight per scenario, such as "onramp.happy: 6"`);
  }
  return parsed as Record<string, unknown>;
}

function mixOf(weights: Readonly<Record<string, unknown>>, source: string): Mix {
  const mix = Object.entries(weights).map(([name, weight]) => {
    if (typeof weight !== 'number' || !(weight >= 0) || weight > WEIGHT_MAX) {
      throw usage(`${source}: the weight of ${name} must be a number from 0 to ${WEIGHT_MAX}`);
    }
    return { scenario: openScenario(name, { force: false }), weight };
  });
  const used = mix.filter(({ weight }) => weight > 0);
  if (used.length === 0) throw usage(`${source} has no scenario with a weight above 0`);
  return used;
}

/**
 * An endless sequence of events: every user and corporate plays one scenario of the mix after the other, step by step,
 * in turns. The same seed gives the same sequence; times and event ids depend on the start as well.
 */
export class EventMixer {
  readonly #mix: Mix;
  readonly #options: MixerOptions;
  readonly #chance: Chance;
  readonly #total: number;
  readonly #journeys: { readonly events: DomainEvent[]; count: number }[];
  #turn = 0;

  constructor(mix: Mix, options: MixerOptions) {
    this.#mix = mix;
    this.#options = options;
    this.#chance = new Chance('load', options.seed);
    this.#total = mix.reduce((sum, { weight }) => sum + weight, 0);
    this.#journeys = Array.from({ length: options.entities }, () => ({ events: [], count: 0 }));
  }

  next(now: number): DomainEvent {
    const index = this.#turn % this.#journeys.length;
    this.#turn += 1;
    const journey = this.#journeys[index];
    if (journey === undefined) throw new RangeError('a mixer has entities');
    if (journey.events.length === 0) {
      journey.events.push(...this.#play(`${this.#options.seed}/${index}`, journey.count, now));
      journey.count += 1;
    }
    const event = journey.events.shift();
    if (event === undefined) throw new RangeError('a scenario has steps');
    return event;
  }

  #play(entity: string, count: number, now: number): readonly DomainEvent[] {
    const scenario = this.#draw();
    const { merchantId } = this.#options;
    const kind = scenario.entityKind;
    const options = {
      seed: `${entity}/${count}`,
      merchantId,
      entityId: madeUpEntity(entity, kind),
      entityKind: kind,
    };
    return planFromNow(scenario, options, { now, speed: Number.POSITIVE_INFINITY }).map(({ event }) => event);
  }

  #draw(): Scenario {
    let left = (this.#chance.below(2 ** 32) / 2 ** 32) * this.#total;
    const drawn = this.#mix.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    const { scenario } = drawn ?? (this.#mix.at(-1) as Mix[number]);
    return scenario;
  }
}

export interface MixerOptions {
  readonly seed: string;
  readonly merchantId: string;
  /** The number of users and corporates whose events are mixed. */
  readonly entities: number;
}
