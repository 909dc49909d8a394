import { LineCounter, parseDocument } from 'yaml';
import { CommandFailure, EXIT } from '../exit.ts';
import { ENTITY, type Move, World } from '../machines/world.ts';
import { buildScenario } from './build-scenario.ts';
import { type RawScenario, readProcesses } from './raw-scenario.ts';
import type { Scenario, Step } from './scenario-format.ts';
import { checkRules } from './scenario-rules.ts';
import { type Finding, placeOf, schemaFindings } from './schema-check.ts';

export type { Expectation, Scenario } from './scenario-format.ts';

const TEXT_BYTES_MAX = 1024 * 1024;

/** An invalid scenario: every finding with its line, as "file:line: what". */
export class ScenarioFailure extends CommandFailure {
  readonly findings: readonly { readonly line: number; readonly message: string }[];

  constructor(source: string, findings: readonly { readonly line: number; readonly message: string }[]) {
    super(EXIT.usage, findings.map(({ line, message }) => `${source}:${line}: ${message}`).join('\n'));
    this.findings = findings;
  }
}

/**
 * Parses a scenario's text and checks it: YAML, the published schema, the catalogue, and (unless `force`) that the
 * platform would make each step. Throws ScenarioFailure with all findings; `source` names the file in them.
 */
export function parseScenario(text: string, source: string, options: { readonly force: boolean }): Scenario {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) {
    throw new ScenarioFailure(source, [{ line: 1, message: `is larger than ${TEXT_BYTES_MAX} bytes` }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const failOn = (findings: readonly Finding[]) => {
    if (findings.length === 0) return;
    const found = findings.map(({ offset, message }) => ({ line: lineAt(offset), message }));
    throw new ScenarioFailure(
      source,
      found.sort((a, b) => a.line - b.line),
    );
  };
  failOn(
    document.errors.map((error) => ({ offset: error.pos[0], message: error.message.split('\n')[0] ?? '' })),
  );
  const offsetOf = (...path: (string | number)[]) => placeOf(document, path).offset;
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // An alias of nothing, or more aliases than anyone writes.
    failOn([{ offset: 0, message: (error as Error).message }]);
  }
  failOn(schemaFindings(document, value));
  const raw = value as RawScenario;
  const processes = readProcesses(raw);
  const broken: Finding[] = [];
  checkRules(raw, processes, (path, message) => broken.push({ offset: offsetOf(...path), message }));
  failOn(broken);
  const scenario = buildScenario(raw, processes, (i) => lineAt(offsetOf('steps', i)));
  if (!options.force) failOn(illegalSteps(scenario, (i) => offsetOf('steps', i)));
  return scenario;
}

/** Returns the steps that the platform would not allow, given the states before the first one. */
function illegalSteps(scenario: Scenario, offsetOf: (step: number) => number): readonly Finding[] {
  const world = worldBefore(scenario);
  return scenario.steps.flatMap((step) => {
    const move = moveOf(step);
    const refusal = world.refusal(move);
    // One wrong step must not make every later one wrong as well.
    world.apply(move);
    if (!refusal) return [];
    const legal = refusal.legal.length === 0 ? 'nothing is' : refusal.legal.join(', ');
    const message = `step "${step.id}": ${refusal.reason}; legal: ${legal} (--force plays it anyway)`;
    return [{ offset: offsetOf(step.order), message }];
  });
}

/** Returns the states of the entity and its processes before the first step. */
export function worldBefore(scenario: Scenario): World {
  const world = new World();
  world.place(scenario.entityKind === 'USER' ? 'KYC' : 'KYB', ENTITY, scenario.verification);
  for (const [name, { kind, state }] of Object.entries(scenario.processes)) {
    if (state !== undefined) world.place(kind, name, state);
  }
  return world;
}

/** Returns a step as the state machines see it. */
export function moveOf(step: Pick<Step, 'type' | 'subType' | 'process' | 'set'>): Move {
  const status = step.set['data.status'];
  const { type, subType, process } = step;
  return { type, subType, process, status: typeof status === 'string' ? status : undefined };
}
