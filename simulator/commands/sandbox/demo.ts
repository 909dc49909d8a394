import { ApiClient } from '../../client/api-client.ts';
import { DeliveryWatch } from '../../client/delivery-watch.ts';
import { MerchantApi } from '../../client/merchant-api.ts';
import type { Output } from '../../output.ts';
import { arrivalJson, arrivalLine } from '../../receiver/arrival-lines.ts';
import { openAuthority } from '../../receiver/certificate-authority.ts';
import {
  ENDPOINT_IN_FORCE_MS,
  ensureEndpoint,
  ignoreNotFound,
  KeptEndpoint,
} from '../../receiver/kept-endpoint.ts';
import { type Arrival, type Receiver, startReceiver } from '../../receiver/receiver.ts';
import { receiverCertificate } from '../../receiver/receiver-certificate.ts';
import { LiveLines } from '../../scenario/live-lines.ts';
import { openScenario } from '../../scenario/open-scenario.ts';
import { planFromNow } from '../../scenario/plan.ts';
import { play } from '../../scenario/player.ts';
import { randomSeed } from '../../scenario/run-options.ts';
import type { Session } from '../../session.ts';
import { apiSink } from '../../sinks/sinks.ts';
import type { Access } from './keys.ts';

const SCENARIO = 'onramp.happy';
const DESCRIPTION = 'Built-in receiver of the sandbox';
const STEP_GAP_MS = 1000;
const WATCH_MS = 15_000;

/** The built-in receiver, registered as an endpoint. */
export interface Demo {
  readonly url: string;
  /** Removes the endpoint, and then closes the receiver. Never rejects. */
  close(): Promise<void>;
}

/**
 * Starts the built-in receiver, registers it like any merchant's, plays a first scenario and shows its deliveries; it
 * plays nothing when the developer has endpoints, which would get the events too. Resolves when it has been played (or
 * on `stopped`); rejects when `broken` rejects.
 */
export async function playDemo(
  session: Session,
  access: Access,
  stopped: Promise<void>,
  broken: Promise<never>,
): Promise<Demo> {
  const kept = keptOf(access);
  let isDemoOver = false;
  const onArrival = (arrival: Arrival) => {
    // While the demo plays, its own lines show the same thing.
    if (isDemoOver) session.output.item(arrivalJson(arrival), () => arrivalLine(arrival, session.output));
  };
  const receiver = await startBuiltInReceiver(access.dataDir, kept.read().port, onArrival);
  try {
    const api = apiOf(access, session.signal);
    const url = new URL(kept.name, receiver.url).href;
    kept.change({ port: receiver.port });
    const made = await ensureEndpoint(api, kept, { url, description: DESCRIPTION, events: null });
    receiver.setSecret(made.secret);
    const isAlone = (await api.endpoints()).every(({ uuid }) => uuid === made.uuid);
    if (isAlone) await Promise.race([playFirstScenario(session, access, api, url), stopped, broken]);
    else sayNotPlayed(session.output);
    isDemoOver = true;
    const close = () => removeDemoEndpoint(access).finally(() => receiver.close());
    return { url, close };
  } catch (error) {
    await removeDemoEndpoint(access);
    await receiver.close();
    throw error;
  }
}

/**
 * Removes the endpoint of the built-in receiver, if there is one: without its receiver each event would fail there. It
 * never rejects, because the next start tries again.
 */
export async function removeDemoEndpoint(access: Access): Promise<void> {
  const kept = keptOf(access);
  const { endpoint } = kept.read();
  if (endpoint === undefined) return;
  // Ctrl-C must not cut this request off.
  const api = apiOf(access, new AbortController().signal);
  try {
    await api.deleteEndpoint(endpoint).catch(ignoreNotFound);
    kept.change({ endpoint: undefined, secret: undefined, since: undefined });
  } catch {
    // The file still names it: the next start removes it.
  }
}

function apiOf({ baseUrl, apiKey }: Access, signal: AbortSignal): MerchantApi {
  return new MerchantApi(new ApiClient(baseUrl, apiKey, signal));
}

/** Its file keeps the port, so that the receiver's URL stays the same, and the endpoint while it exists. */
function keptOf({ dataDir }: Access): KeptEndpoint {
  return new KeptEndpoint(dataDir, 'sandbox');
}

/** Its events would go to the developer's own endpoints too. */
function sayNotPlayed(output: Output): void {
  const text = `the demo is not played, because you have endpoints of your own; to play it to them:
  → hookrail sim run ${SCENARIO}`;
  const told = { kind: 'not_played', scenario: SCENARIO, reason: 'own_endpoints' };
  output.item(told, output.prose(output.asTyped(text)));
}

/**
 * Starts the receiver. If another program uses its port now, it takes a free one, and the endpoint's URL is changed.
 */
async function startBuiltInReceiver(
  dataDir: string,
  port: number | undefined,
  onArrival: (arrival: Arrival) => void,
): Promise<Receiver> {
  const authority = await openAuthority(dataDir);
  const { certPem, keyPem } = await receiverCertificate(authority, 'localhost');
  const options = { cert: certPem, key: keyPem, keepMax: 1, onArrival };
  if (port !== undefined) {
    const found = await startReceiver({ ...options, port }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
      return undefined;
    });
    if (found) return found;
  }
  return startReceiver({ ...options, port: 0 });
}

async function playFirstScenario(
  session: Session,
  access: Access,
  api: MerchantApi,
  receiverUrl: string,
): Promise<void> {
  const { output, signal } = session;
  const pause = (ms: number) => session.pause(ms);
  await pause(ENDPOINT_IN_FORCE_MS);
  if (signal.aborted) return;
  const seed = randomSeed();
  const scenario = openScenario(SCENARIO, { force: false });
  const from = { now: Date.now(), speed: Number.POSITIVE_INFINITY };
  const planned = planFromNow(scenario, { seed, merchantId: access.merchantId }, from);
  const steps = planned.map((step, i) => ({ ...step, offsetMs: i * STEP_GAP_MS }));
  const intro = { kind: 'playing', scenario: SCENARIO, seed, receiver: receiverUrl };
  output.item(intro, `playing ${SCENARIO} (seed ${seed}) to ${receiverUrl}\n`);
  const lines = new LiveLines(output, steps, api.clock);
  await play(steps, {
    sink: apiSink(new ApiClient(access.baseUrl, access.producerKey, signal)),
    speed: 1,
    pause,
    signal,
    clock: api.clock,
    watch: new DeliveryWatch({ api, pause, signal, onNews: (news) => lines.news(news) }),
    watchMs: WATCH_MS,
    waiting: (text) => output.waiting(text),
    onSent: (step, sent, sentAt) => lines.sent(step, sent, sentAt),
  });
}
