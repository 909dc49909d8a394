/** Guarantee: the service does what its description says (test/contract/api/schemathesis-suite.ts); one process. */
import { rmSync } from 'node:fs';
import {
  EXAMPLES_MIN,
  FUZZED_ENVIRONMENT,
  schemathesisSuite,
  type Tested,
} from '../contract/api/schemathesis-suite.ts';
import { describeWithSchemathesis } from '../support/api/schemathesis.ts';
import { startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { addMerchant } from '../support/service/add-merchant.ts';
import { prepareSetup, startService } from '../support/service/system.ts';

async function startOne(): Promise<Tested> {
  const setup = await prepareSetup(FUZZED_ENVIRONMENT);
  const receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  const otherMerchantId = await addMerchant(setup);
  const service = await startService(setup.environment);
  return {
    ...{ setup, otherMerchantId, apiUrl: service.apiUrl, receiver, apis: [service] },
    stop: async () => [await service.end('SIGTERM')],
    dispose: async () => {
      await service.end('SIGKILL');
      await receiver.close();
      rmSync(setup.dataDir, { recursive: true, force: true });
    },
  };
}

await describeWithSchemathesis('Schemathesis', async (install) => {
  schemathesisSuite(install, startOne, EXAMPLES_MIN);
});
