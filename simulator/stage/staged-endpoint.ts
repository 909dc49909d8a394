import type { MerchantApi } from '../client/merchant-api.ts';
import type { Authority } from '../receiver/certificate-authority.ts';
import { flaky } from '../receiver/flaky.ts';
import { type Receiver, startReceiver } from '../receiver/receiver.ts';
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
  const server = await startReceiver({
    port: 0,
    cert: certPem,
    key: keyPem,
    refuses: true,
    failFirst,
    delayMs,
  });
  const behave = (as: StagedBehaviour) => server.setBehaviour(as === 'flaky' ? flaky() : as);
  behave(behaviour);
  return { server, behave };
}
