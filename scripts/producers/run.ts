/** The conformance run: writes every case with every client, and checks the end of each record. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventSchemaText, recordNameOf } from '../../services/codec/events.ts';
import type { Case, CaseContext } from './case.ts';
import { eventRecord, newIds } from './case.ts';
import { casesOf } from './cases.ts';
import { CLIENTS, type ClientName, prepareClients, writeWith } from './clients.ts';
import { kycEvent, SCHEMAS } from './event-variants.ts';
import type { Job, Written } from './job.ts';
import { type Cell, judge, type Sent } from './judge.ts';
import { type QuarantineEntry, type System, startSystem } from './system.ts';

export interface RunOptions {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  /** Whether to run fewer combinations. */
  readonly isQuick: boolean;
  readonly environment: NodeJS.ProcessEnv;
  /** Reports progress, one line at a time. */
  readonly say: (line: string) => void;
}

const PARTITIONS = { full: 24, quick: 12 } as const;
const CLIENT_MS_MAX = 180_000;
const POLL_MS = 500;
/** When no record has ended for this long, no more will. */
const QUIET_MS = 12_000;
const END_MS_MAX = 120_000;

/** Resolves with one cell for each case of each client. */
export async function runConformance(options: RunOptions): Promise<readonly Cell[]> {
  const { brokers, registryUrl, isQuick, environment, say } = options;
  const launchers = await prepareClients({ environment, say });
  const partitions = isQuick ? PARTITIONS.quick : PARTITIONS.full;
  const topicPrefix = `p${randomBytes(6).toString('hex')}.`;
  const system = await startSystem({ brokers, registryUrl, topicPrefix, partitions });
  try {
    const context = await contextOf(system, registryUrl);
    const job = (records: Job['records']): Job => ({
      brokers: brokers.join(','),
      topic: system.eventsTopic,
      schemas: SCHEMAS,
      ...{ registryUrl, records },
    });
    const write = async (client: ClientName, cases: readonly Case[]) => {
      const records = cases.map((each, i) => ({ id: `${i}`, partition: i % partitions, ...each.record }));
      const began = Date.now();
      const timeout = AbortSignal.timeout(CLIENT_MS_MAX);
      const written = await writeWith(launchers[client], job(records), environment, timeout);
      say(`${client}: ${written.length} records written in ${((Date.now() - began) / 1000).toFixed(1)} s`);
      return sentOf(client, cases, written);
    };
    const cases = CLIENTS.map((client) => [client, casesOf(context, isQuick)] as const);
    const sent = (await Promise.all(cases.map(([client, each]) => write(client, each)))).flat();
    // Records that show that the last case of each partition has not stopped the partition.
    const last = Array.from({ length: partitions }, () => lastCase(context));
    sent.push(...(await write('kafkajs', last)));
    const quarantine = await untilEnded(system, sent, say);
    return judge(sent, system.arrivals, quarantine).filter(({ row }) => row !== LAST);
  } finally {
    await system.stop();
  }
}

const LAST = 'last of the partition';

function lastCase(context: CaseContext): Case {
  const ids = newIds(context);
  const record = eventRecord(ids, 'ours', kycEvent(ids));
  return { name: LAST, row: LAST, group: 'events', expected: ['delivered'], record };
}

function sentOf(client: ClientName, cases: readonly Case[], written: readonly Written[]): Sent[] {
  const byId = new Map(written.map((each) => [each.id, each]));
  return cases.map((each, i) => {
    const end = byId.get(`${i}`);
    if (!end) throw new Error(`${client} did not report "${each.name}"`);
    return { client, of: each, written: end };
  });
}

/** Resolves with the quarantine when every record has ended, or there was no progress for a while. */
async function untilEnded(
  system: System,
  sent: readonly Sent[],
  say: (line: string) => void,
): Promise<readonly QuarantineEntry[]> {
  const count = (end: string) =>
    sent.filter(({ of }) => of.expected.some((each) => each.startsWith(end))).length;
  const due = sent.filter(({ of, written }) => of.expected.includes('delivered') && 'offset' in written);
  say(`waiting for ${due.length} webhooks and ${count('quarantined')} quarantined records`);
  const began = Date.now();
  let quarantined: readonly QuarantineEntry[] = [];
  for (let [seen, movedAt] = [-1, began]; ; await sleep(POLL_MS)) {
    quarantined = await system.quarantine();
    const now = Date.now();
    const arrived = system.arrivals.size;
    if (arrived + quarantined.length !== seen) {
      seen = arrived + quarantined.length;
      movedAt = now;
    }
    if (now - movedAt > QUIET_MS || now - began > END_MS_MAX) break;
    if (judge(sent, system.arrivals, quarantined).every(({ isRight }) => isRight)) break;
  }
  say(
    `${system.arrivals.size} webhooks and ${quarantined.length} quarantined records after ${Date.now() - began} ms`,
  );
  return quarantined;
}

/** Disables the registry's check under the topic's name, which topics of several record types require. */
export async function contextOf(system: System, registryUrl: string): Promise<CaseContext> {
  const base = registryUrl.replace(/\/+$/, '');
  // Apicurio rejects this for a subject that does not exist yet, and checks nothing by default.
  await askRegistry('PUT', `${base}/config/${system.eventsTopic}-value`, { compatibility: 'NONE' }).catch(
    () => {},
  );
  const ids = new Map<string, number>();
  for (const [name, type] of [
    ['ours', 'KYC'],
    ['KYB', 'KYB'],
    ['fiatToCrypto', 'fiatToCrypto'],
  ] as const) {
    const schema = { schema: JSON.stringify(JSON.parse(eventSchemaText(type))) };
    const { id } = await askRegistry('POST', `${base}/subjects/${recordNameOf(type)}/versions`, schema);
    ids.set(name, Number(id));
  }
  return { merchantId: system.merchantId, schemaIdOf: (schema) => ids.get(schema) ?? 0 };
}

async function askRegistry(method: string, url: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
