import { entityKindsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { MACHINES, START } from '../../services/domain/catalog/machines.ts';
import { EVENT_TYPES, type EventType, isEventType } from '../../services/domain/event.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { usage } from '../exit.ts';
import { ENTITY, type World } from '../machines/world.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** A state that a process can take now. */
export interface PossibleMove {
  readonly type: EventType;
  readonly process: string;
  readonly subType: string;
  /** Where the subType does not tell everything: the status in the data, which is the state or the reason of a hold. */
  readonly status?: string;
  /** As a user types it: the subType, or the status. */
  readonly to: string;
}

/** The only subType of types whose state is the status in the data. */
export const STATUS_UPDATE = 'statusUpdate';

/** Returns every move that the scenario's processes can make now, in the order of the scenario. */
export function possibleMoves(world: World, scenario: Scenario): readonly PossibleMove[] {
  return processesOf(scenario).flatMap(({ type, process }) => movesOf(world, type, process));
}

interface Process {
  readonly type: EventType;
  readonly process: string;
}

/** Returns the processes of a scenario: those that it declares, and those that its steps are about. */
function processesOf(scenario: Scenario): readonly Process[] {
  const found = [
    ...Object.entries(scenario.processes).map(([process, { kind }]) => ({ type: kind, process })),
    ...scenario.steps.map(({ type, process }) => ({ type, process })),
  ];
  const keys = found.map(({ type, process }) => `${type}/${process}`);
  return found.filter((_, i) => keys.indexOf(keys[i] ?? '') === i);
}

/** Returns the moves that a process can make now. A type without states can always be sent. */
function movesOf(world: World, type: EventType, process: string): readonly PossibleMove[] {
  const states = MACHINES[type] === undefined ? SUB_TYPES[type] : Object.keys(MACHINES[type]);
  const moves = states.map((state) => moveTo(world, { type, process }, state));
  return moves.filter((move) => world.refusal(move) === undefined);
}

function moveTo(world: World, { type, process }: Process, state: string): PossibleMove {
  const isStatus = SUB_TYPES[type].length === 1 && SUB_TYPES[type][0] === STATUS_UPDATE;
  if (isStatus && state !== STATUS_UPDATE) {
    return { type, process, subType: STATUS_UPDATE, status: state, to: state };
  }
  const move = { type, process, subType: state, to: state };
  return state === 'ON_HOLD' ? { ...move, status: world.holdNow() } : move;
}

/** A move as `--to` names it: "SUCCESS", "fiatToCrypto/SUCCESS", of the process that `of` names. */
export interface Wanted {
  readonly to: string;
  readonly of?: string | undefined;
}

/**
 * Returns the move that a user names. Throws a usage failure, with the moves that are possible, when it is not
 * possible (unless `force`), unknown, or could be one of several.
 */
export function chooseMove(world: World, scenario: Scenario, wanted: Wanted, force: boolean): PossibleMove {
  const [first = '', second] = wanted.to.split('/');
  const typed = second === undefined ? undefined : knownType(first);
  const state = second ?? first;
  const declared = processesOf(scenario);
  // A type that the scenario does not have happens to the entity itself.
  const isNew = typed !== undefined && !declared.some(({ type }) => type === typed);
  const processes = isNew ? [...declared, { type: typed, process: ENTITY }] : declared;
  const named = processes.filter(
    ({ type, process }) =>
      (typed === undefined || type === typed) &&
      (wanted.of === undefined || process === wanted.of) &&
      entityKindsOf(type).includes(scenario.entityKind) &&
      statesOf(type).includes(state),
  );
  if (named.length === 0) throw unknownState(world, scenario, wanted);
  const moves = named.map((process) => moveTo(world, process, state));
  const possible = moves.filter((move) => world.refusal(move) === undefined);
  const [move, other] = possible.length > 0 ? possible : force ? moves.slice(0, 1) : [];
  if (move === undefined) {
    const [refused] = moves;
    const reason = refused && world.refusal(refused)?.reason;
    throw usage(
      `${wanted.to} is not possible: ${reason}`,
      `possible now: ${describeMoves(possibleMoves(world, scenario))}`,
      'play it anyway with: --force',
    );
  }
  if (other !== undefined) {
    const choices = possible.map(({ type, process, to }) => `--to ${type}/${to} --of ${process}`);
    throw usage(`${wanted.to} could be one of several`, ...choices);
  }
  return move;
}

/** Formats moves for one line: "fiatToCrypto/SUCCESS, fiatToCrypto/FAILED". */
export function describeMoves(moves: readonly PossibleMove[]): string {
  if (moves.length === 0) return 'nothing';
  return [...new Set(moves.map(({ type, to }) => `${type}/${to}`))].join(', ');
}

function statesOf(type: EventType): readonly string[] {
  const states = Object.keys(MACHINES[type] ?? {}).filter((state) => state !== START);
  return [...new Set([...SUB_TYPES[type], ...states])];
}

function knownType(name: string): EventType {
  if (isEventType(name)) return name;
  throw usage(`"${name}" is not an event type${didYouMean(name, EVENT_TYPES)}`);
}

function unknownState(world: World, scenario: Scenario, { to, of }: Wanted): Error {
  const names = [...new Set(processesOf(scenario).map(({ process }) => process))];
  if (of !== undefined && !names.includes(of)) {
    return usage(`there is no process "${of}"${didYouMean(of, names)}; it has ${names.join(', ')}`);
  }
  const states = processesOf(scenario).flatMap(({ type }) => statesOf(type));
  return usage(
    `${scenario.name} has no state "${to}"${didYouMean(to, [...new Set(states)])}`,
    `possible now: ${describeMoves(possibleMoves(world, scenario))}`,
  );
}
