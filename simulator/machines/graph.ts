import { MACHINES, START, type Table } from '../../services/domain/catalog/machines.ts';
import type { Scenario, Step } from '../scenario/scenario-format.ts';
import { ENTITY, stateAfter } from './world.ts';

/** Draws a state machine as a Mermaid diagram. */
export function machineGraph(title: string, table: Table): string {
  const lines = Object.entries(table).flatMap(([from, states]) => {
    const name = from === START ? '[*]' : from;
    return states.length === 0 ? [`${name} --> [*]`] : states.map((to) => `${name} --> ${to}`);
  });
  return diagram(title, lines);
}

/** Draws the path of each process of a scenario through its states; each step has its number and name. */
export function scenarioGraph(scenario: Scenario): string {
  const processes = new Map<string, Step[]>();
  for (const step of scenario.steps) {
    const key = `${step.type} ${step.process}`;
    processes.set(key, [...(processes.get(key) ?? []), step]);
  }
  const drawn = [...processes.values()].flatMap((steps) => pathOf(scenario, steps, processes.size > 1));
  const others = scenario.actions.map(({ id, order, action }) => {
    const { kind, ...what } = action;
    return `%% ${order + 1} ${id}: ${kind} ${Object.values(what).join(' ')}`;
  });
  return diagram(scenario.name, [...drawn, ...others]);
}

function pathOf(scenario: Scenario, steps: readonly Step[], isOneOfMany: boolean): readonly string[] {
  const [first] = steps;
  if (first === undefined) return [];
  const { type, process } = first;
  // The states of two processes may have the same names, so each has its own in the diagram.
  const box = `${type}_${process}`.replaceAll('-', '_');
  const idOf = (state: string) => (isOneOfMany ? `${box}_${state}` : state);
  let from = scenario.processes[process]?.kind === type ? scenario.processes[process]?.state : undefined;
  if (from === undefined && isVerification(scenario, type)) from = scenario.verification;
  let before = from === undefined || from === START ? '[*]' : idOf(from);
  const states = new Set<string>(before === '[*]' ? [] : [from ?? '']);
  const arrows = steps.map((step) => {
    const { subType, set, order, id } = step;
    const status = set['data.status'];
    const to = stateAfter({
      type,
      subType,
      process,
      status: typeof status === 'string' ? status : undefined,
    });
    const hold = subType === 'ON_HOLD' && typeof status === 'string' ? ` (${status})` : '';
    states.add(to);
    const arrow = `${before} --> ${idOf(to)} : ${order + 1} ${id}${hold}`;
    // Without a machine, one event does not follow from another.
    before = MACHINES[type] === undefined ? '[*]' : idOf(to);
    return arrow;
  });
  if (!isOneOfMany) return arrows;
  const title = process === ENTITY ? type : `${type} ${process}`;
  const names = [...states].map((state) => `state "${state}" as ${idOf(state)}`);
  return [`state "${title}" as ${box} {`, ...[...names, ...arrows].map((line) => `  ${line}`), '}'];
}

/** Returns whether a type is the KYC or KYB that the scenario's entity has from the start. */
function isVerification({ entityKind }: Scenario, type: string): boolean {
  return type === (entityKind === 'USER' ? 'KYC' : 'KYB');
}

function diagram(title: string, lines: readonly string[]): string {
  return ['---', `title: ${title}`, '---', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`)].join('\n');
}
