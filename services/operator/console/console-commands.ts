import type { Socket } from 'node:net';
import type { MerchantsSummary } from '../commands/look/merchant.ts';
import type { OperatorService } from '../commands/operator-service.ts';
import type { Person } from '../commands/person.ts';
import { freeBytes, type Summary, serviceStatus } from '../commands/service-status.ts';

/**
 * The commands that the console gives, beside `status`. Those that show a secret, delete something for good or write files
 * stay with the command line.
 */
const NAMES = [
  'merchants-list',
  'merchants-get',
  'merchants-pause',
  'merchants-resume',
  'portal-link',
  'keys-list',
  'endpoints-list',
  'deliveries-list',
  'deliveries-get',
  'deliveries-summary',
  'events-get',
  'story',
  'find',
  'audit-list',
  'quarantine-list',
  'quarantine-summary',
  'quarantine-show',
  'quarantine-replay',
  'dead-letters-list',
  'dead-letters-summary',
  'replay-start',
  'replay-list',
  'replay-get',
  'replay-cancel',
] as const;

export type ConsoleCommand = (typeof NAMES)[number];
export const CONSOLE_COMMANDS: ReadonlySet<string> = new Set(NAMES);

/** Returns what `status` tells of the process that the request has reached. */
export async function statusHere(
  service: OperatorService,
  { localAddress = '', localPort }: Pick<Socket, 'localAddress' | 'localPort'>,
  by: Person & { readonly logsReads: boolean },
) {
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  const of = async <Result>(command: string) => (await service.run(command, {}, by)) as Result;
  const [quarantine, deadLetters, merchants, free] = await Promise.all([
    of<Summary>('quarantine-summary'),
    of<Summary>('dead-letters-summary'),
    of<MerchantsSummary>('merchants-summary'),
    freeBytes(service.dataDir),
  ]);
  const counted = { quarantine, deadLetters, merchants, freeBytes: free };
  return serviceStatus([`http://${host}:${localPort}`], counted);
}
