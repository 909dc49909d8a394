import type { MerchantApi } from '../client/merchant-api.ts';
import type { Behaviour } from '../receiver/behaviours.ts';
import type { Authority } from '../receiver/certificate-authority.ts';
import { type Arrival, type Receiver, startReceiver } from '../receiver/receiver.ts';
import { receiverCertificate } from '../receiver/receiver-certificate.ts';
import type { StagedBehaviour, StagedEndpoint } from '../scenario/scenario-format.ts';

const HOST = 'localhost';

/** An endpoint that was made for a run, with the receiver behind it. */
export interface Staged {
  readonly name: string;
  readonly uuid: string;
  readonly receiver: Receiver;
  secret: string;
  isDeleted: boolean;
  behave(as: StagedBehaviour): void;
}

/** Starts a receiver that refuses what is not authentic, and registers it. */
export async function stageEndpoint(
  api: MerchantApi,
  authority: Authority,
  description: string,
  { name, ...wanted }: StagedEndpoint & { readonly name: string },
): Promise<Staged> {
  const receiver = await startStagedReceiver(authority, wanted);
  try {
    const { uuid, signing_secret: secret } = await api.createEndpoint({
      url: receiver.server.url,
      description,
      ...(wanted.version === undefined ? {} : { api_version: wanted.version }),
      ...(wanted.events === undefined ? {} : { subscribed_events: [...wanted.events] }),
    });
    receiver.server.setSecret(secret);
    return { name, uuid, receiver: receiver.server, secret, isDeleted: false, behave: receiver.behave };
  } catch (error) {
    await receiver.server.close();
    throw error;
  }
}

/** Makes the endpoint's certificate, which may have expired, and starts its receiver. */
async function startStagedReceiver(
  authority: Authority,
  { certificate, behaviour, failFirst, delayMs }: StagedEndpoint,
): Promise<{ readonly server: Receiver; behave(as: StagedBehaviour): void }> {
  const validity = certificate === 'expired' ? 'tls-expired' : 'ok';
  const { certPem, keyPem } = await receiverCertificate(authority, HOST, validity);
  let isFlaky = false;
  const turns = new Flaky();
  const server = await startReceiver({
    port: 0,
    cert: certPem,
    key: keyPem,
    refuses: true,
    failFirst,
    delayMs,
    // Called when the response to this request is decided: it changes that to the next one.
    onArrival: (arrival) => {
      if (isFlaky) server.setBehaviour(turns.after(arrival));
    },
  });
  const behave = (as: StagedBehaviour) => {
    isFlaky = as === 'flaky';
    server.setBehaviour(as === 'flaky' ? '500' : as);
  };
  behave(behaviour);
  return { server, behave };
}

/** Fails every other request, beginning with the first. */
class Flaky {
  after({ answered }: Arrival): Behaviour {
    return answered === '500' ? 'ok' : '500';
  }
}
