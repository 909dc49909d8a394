import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { usage } from '../exit.ts';
import { scenarioNames } from '../scenario/library.ts';
import { openScenario } from '../scenario/open-scenario.ts';
import type { Scenario, Variant } from '../scenario/scenario-format.ts';

/** One scenario, in one of its variants. */
export interface Case {
  /** "offramp.happy NGN" */
  readonly name: string;
  readonly scenario: Scenario;
  readonly variant: Variant;
}

/** Which scenarios to check: by name or file, narrowed by patterns. */
export interface Selection {
  readonly scenarios: readonly string[];
  readonly only: readonly string[];
  readonly skip: readonly string[];
}

/** Returns the selected cases. Throws a usage failure for a name or a pattern that fits no scenario. */
export function selectCases({ scenarios, only, skip }: Selection): readonly Case[] {
  const given = scenarios.length > 0 ? scenarios : scenarioNames();
  const found = given.map((name) => openScenario(name, { force: false }));
  const names = found.map(({ name }) => name);
  const [isOnly, isSkipped] = [matcher('only', only, names), matcher('skip', skip, names)];
  const chosen = found.filter(({ name }) => (only.length === 0 || isOnly(name)) && !isSkipped(name));
  if (chosen.length === 0) throw usage('--only and --skip leave no scenario to check');
  return chosen.flatMap(casesOf);
}

function casesOf(scenario: Scenario): readonly Case[] {
  if (scenario.variants.length === 0) return [{ name: scenario.name, scenario, variant: {} }];
  return scenario.variants.map((variant) => ({
    name: `${scenario.name} ${Object.values(variant).join(' ')}`,
    scenario,
    variant,
  }));
}

/** Returns whether a name fits one of the patterns: names, in which * stands for any text. */
function matcher(
  option: string,
  given: readonly string[],
  names: readonly string[],
): (name: string) => boolean {
  const patterns = given.flatMap((text) => text.split(',')).map((text) => text.trim());
  const known = patterns.map((pattern) => {
    const parts = pattern.split('*');
    if (names.some((name) => fits(name, parts))) return parts;
    throw usage(
      `--${option} "${pattern}" fits no scenario${didYouMean(pattern, names)}`,
      'list them with: hookrail sim scenarios list',
    );
  });
  return (name) => known.some((parts) => fits(name, parts));
}

/** Whether a name consists of these parts, with anything between them. */
function fits(name: string, parts: readonly string[]): boolean {
  const [first = '', ...others] = parts;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
