import { readScenario } from './library.ts';
import { parseScenario, type Scenario } from './scenario.ts';

/** Reads and checks a scenario by name, file or `-`. */
export function openScenario(name: string, options: { readonly force: boolean }): Scenario {
  const { text, source } = readScenario(name);
  return parseScenario(text, source, options);
}
