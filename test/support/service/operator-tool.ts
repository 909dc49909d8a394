import { expect } from 'vitest';
import { runOperator } from '../../../services/operator.ts';

type Environment = Readonly<Record<string, string>>;

/** Runs the operator's tool and returns its exit code and output. */
export async function runTool(environment: Environment, ...argv: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runOperator(
    argv,
    environment,
    (line) => out.push(line),
    (line) => err.push(line),
  );
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** Returns the tool's JSON output, parsed; expects success and a single line. */
export async function toolAnswer(environment: Environment, ...argv: string[]) {
  const { code, out, err } = await runTool(environment, ...argv, '--output', 'json');
  expect([code, err]).toEqual([0, '']);
  expect(out).not.toContain('\n');
  return JSON.parse(out);
}

/** Returns the environment in which the tool finds a running service. */
export function besides(environment: Environment, service: { readonly operationsUrl: string }): Environment {
  return { ...environment, HOOKRAIL_OPS_PORT: new URL(service.operationsUrl).port };
}
