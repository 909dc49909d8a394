import { runOperator } from '../../../services/operator.ts';
import type { Premises } from './system.ts';

/** The premises as another merchant has them: the same service, with an id and a key of its own. */
export async function anotherMerchant(premises: Premises, name: string): Promise<Premises> {
  const { merchantId } = await operate(premises, ['merchants', 'create', '--name', name]);
  const { key } = await operate(premises, ['keys', 'create', '--merchant', String(merchantId)]);
  return { ...premises, merchantId: String(merchantId), apiKey: String(key) };
}

/** The operator's tool, on the data directory of a service that does not run (yet). */
async function operate(premises: Premises, command: readonly string[]): Promise<Record<string, unknown>> {
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const argv = [...command, '--output', 'json'];
  const exitCode = await runOperator(argv, premises.environment, print, print);
  if (exitCode !== 0) throw new Error(`operator ${command.join(' ')}: ${printed.join('\n')}`);
  return JSON.parse(printed.join('\n'));
}
