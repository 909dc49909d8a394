import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { Chance } from '../../services/samples/chance.ts';
import { parseDuration } from '../duration.ts';
import { usage } from '../exit.ts';
import type { PlannedStep } from './plan.ts';
import { moveOf, worldBefore } from './scenario.ts';
import type { ActionStep, Scenario } from './scenario-format.ts';

/** Steps that are left out: those of `skip`, and with `only` every other one. */
export interface Selection {
  readonly skip: readonly string[];
  readonly only: readonly string[];
}

const SHUFFLE_MS_MAX = 86_400_000;
/** A share is drawn to six digits. */
const SHARE_PARTS = 1_000_000;

/** Splits "hold,kyc" and repeated options to the names of steps. */
export function parseStepNames(given: readonly string[] | undefined): readonly string[] {
  return (given ?? []).flatMap((text) => text.split(',')).map((name) => name.trim());
}

/**
 * Returns the scenario with the selected steps only. Throws a usage failure for an unknown step, and (unless `force`)
 * when the platform would not make one of the steps that are left. The times of those steps stay what they were.
 */
export function selectSteps(scenario: Scenario, selection: Selection, force: boolean): Scenario {
  const ids = scenario.steps.map(({ id }) => id);
  for (const [option, names] of Object.entries(selection) as [string, readonly string[]][]) {
    for (const name of names) {
      if (ids.includes(name)) continue;
      const hint = didYouMean(name, ids);
      throw usage(`--${option}: there is no step "${name}"${hint}`, `the steps are ${ids.join(', ')}`);
    }
  }
  const { skip, only } = selection;
  const isKept = (id: string) => (only.length === 0 || only.includes(id)) && !skip.includes(id);
  if (ids.every(isKept)) return scenario;
  const selected = {
    ...scenario,
    steps: keptSteps(scenario.steps, isKept),
    actions: scenario.actions.filter((action) => stepsOf(action).every(isKept)),
    expect: scenario.expect.filter(({ step }) => isKept(step)),
  };
  if (selected.steps.length === 0) throw usage('--skip and --only leave no step to play');
  if (!force) mustBeLegal(selected);
  return selected;
}

/** Returns the steps that an action cannot do without. */
function stepsOf({ action, when }: ActionStep): readonly string[] {
  return [...('step' in action ? [action.step] : []), ...(when?.kind === 'delivery' ? [when.step] : [])];
}

/** Leaves out steps; the step after them waits for them as well, so that the others keep their times. */
function keptSteps(steps: Scenario['steps'], isKept: (id: string) => boolean): Scenario['steps'] {
  let leftOutMs = 0;
  return steps.flatMap((step) => {
    const afterMs = leftOutMs + step.afterMs;
    leftOutMs = isKept(step.id) ? 0 : afterMs;
    return isKept(step.id) ? [{ ...step, afterMs }] : [];
  });
}

function mustBeLegal(scenario: Scenario): void {
  const world = worldBefore(scenario);
  for (const step of scenario.steps) {
    const refusal = world.refusal(moveOf(step));
    if (refusal) {
      const legal = refusal.legal.length === 0 ? 'nothing is' : refusal.legal.join(', ');
      throw usage(
        `without the steps that are left out, "${step.id}" is not possible: ${refusal.reason}; legal: ${legal}`,
        'play it anyway with: --force',
      );
    }
    world.apply(moveOf(step));
  }
}

/** Delays each step by a part of the window, chosen by the seed, so that events overtake each other. */
export function shuffleSteps(
  steps: readonly PlannedStep[],
  windowMs: number,
  seed: string,
): readonly PlannedStep[] {
  if (windowMs === 0) return steps;
  return steps
    .map((step) => {
      const delayMs = new Chance('shuffle', seed, step.id).below(windowMs + 1);
      return { ...step, offsetMs: step.offsetMs + delayMs };
    })
    .sort((a, b) => a.offsetMs - b.offsetMs);
}

/** Returns the steps that are delivered twice: each with the probability `share`, chosen by the seed. */
export function repeatedSteps(
  steps: readonly PlannedStep[],
  share: number,
  seed: string,
): ReadonlySet<string> {
  const isChosen = ({ id }: PlannedStep) =>
    new Chance('duplicates', seed, id).below(SHARE_PARTS) < share * SHARE_PARTS;
  return new Set(steps.filter(isChosen).map(({ id }) => id));
}

/** Moves all steps so that the first is sent at once. */
export function fromFirst(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const firstMs = steps[0]?.offsetMs ?? 0;
  return firstMs === 0 ? steps : steps.map((step) => ({ ...step, offsetMs: step.offsetMs - firstMs }));
}

/** Parses "0.3" or "30%" to a number from 0 to 1. */
export function parseShare(option: string, text: string | undefined): number {
  if (text === undefined) return 0;
  const match = /^(\d+(?:\.\d+)?|\.\d+)(%?)$/.exec(text.trim());
  const share = match ? Number(match[1]) / (match[2] === '%' ? 100 : 1) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw usage(`--${option} "${text}" is not a share: 0.3, 30%, 1`);
}

/** Parses the window of `--shuffle` to milliseconds. */
export function parseWindow(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= SHUFFLE_MS_MAX) return ms;
  throw usage(`--shuffle "${text}" is not a duration of at most 24 h: 500ms, 10s`);
}
