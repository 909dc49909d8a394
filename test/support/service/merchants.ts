import { runOperator } from '../../../services/operator.ts';
import type { ServiceSetup } from './system.ts';

/** Creates another merchant on the same service, and returns its setup with its own id and key. */
export async function anotherMerchant(setup: ServiceSetup, name: string): Promise<ServiceSetup> {
  const { merchantId } = await operate(setup, ['merchants', 'create', '--name', name]);
  const { key } = await operate(setup, ['keys', 'create', '--merchant', String(merchantId)]);
  return { ...setup, merchantId: String(merchantId), apiKey: String(key) };
}

/** Runs the operator's tool on the data directory of a service that is not running. */
async function operate(setup: ServiceSetup, command: readonly string[]): Promise<Record<string, unknown>> {
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const argv = [...command, '--output', 'json'];
  const exitCode = await runOperator(argv, setup.environment, print, print);
  if (exitCode !== 0) throw new Error(`operator ${command.join(' ')}: ${printed.join('\n')}`);
  return JSON.parse(printed.join('\n'));
}
