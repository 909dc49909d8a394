import { readFileSync } from 'node:fs';
import { API_VERSIONS } from '../../../services/domain/endpoint.ts';
import { issueCertificate, openAuthority } from '../../../simulator/receiver/certificate-authority.ts';
import { startReceiver } from '../../../simulator/receiver/receiver.ts';
import { openScenario } from '../../../simulator/scenario/open-scenario.ts';
import { planScenario } from '../../../simulator/scenario/plan.ts';
import { eventually } from '../../support/eventually.ts';
import { simHere } from './command-line.ts';

/** The scenarios whose bodies are kept in golden files, in both API versions. */
export const GOLDEN_NAMES = [
  'onramp.happy',
  'onramp.hold-kyc-resume',
  'offramp.happy',
  'kyc.happy',
  'journey.individual',
];

const START = '2025-01-31T12:00:00Z';

interface Bodies {
  /** "version id body" of what receivers got, sorted. */
  readonly arrived: readonly string[];
  /** The same of the golden files, with the ids of this merchant. */
  readonly planned: readonly string[];
}

/** Plays a scenario to an endpoint per API version, and returns what arrived beside what the golden files have. */
export async function goldenBodies(
  name: string,
  access: Readonly<Record<string, string>>,
  { merchantId, folder, sink = 'api' }: { merchantId: string; folder: string; sink?: string },
): Promise<Bodies> {
  const { certPem: cert, keyPem: key } = await issueCertificate(await openAuthority(folder), {
    hosts: ['127.0.0.1'],
  });
  const receivers = await Promise.all(API_VERSIONS.map(() => startReceiver({ port: 0, cert, key })));
  const sim = (...args: string[]) => simHere([...args, '--output', 'json'], access);
  const made: string[] = [];
  try {
    for (const [i, version] of API_VERSIONS.entries()) {
      const url = receivers[i]?.url ?? '';
      const created = await sim('endpoints', 'create', '--url', url, '--api-version', version);
      made.push(JSON.parse(created.stdout).uuid);
    }
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const planned = API_VERSIONS.flatMap((version) => goldenLines(name, version, merchantId));
    await sim('run', name, '--seed', '42', '--start-at', START, '--speed', 'instant', '--sink', sink);
    const arrivals = () =>
      receivers.flatMap((receiver, i) =>
        receiver.arrivals.map(
          ({ headers, body }) => `${API_VERSIONS[i]} ${headers['webhook-id']} ${body.toString('utf8')}`,
        ),
      );
    await eventually(`${name} arrives`, () => arrivals().length >= planned.length, 30_000);
    return { arrived: arrivals().sort(), planned: planned.sort() };
  } finally {
    for (const uuid of made) await sim('endpoints', 'delete', uuid);
    for (const receiver of receivers) await receiver.close();
  }
}

/** Event ids follow from the merchant too, so the files give the bodies and the plan gives the ids. */
function goldenLines(name: string, version: string, merchantId: string): readonly string[] {
  const file = version === '2.2.8' ? `${name}-2.2.8` : name;
  const lines = readFileSync(`test/simulator/scenario/golden/${file}.txt`, 'utf8').trimEnd().split('\n');
  const options = { seed: '42', startAt: Date.parse(START), merchantId };
  const steps = planScenario(openScenario(name, { force: false }), options);
  return steps.flatMap(({ event }, i) => {
    const [, , , body = ''] = /^(\S+) (\S+) \S+ (.*)$/.exec(lines[i] ?? '') ?? [];
    return body.startsWith('{') ? [`${version} ${event.eventId} ${body}`] : [];
  });
}
