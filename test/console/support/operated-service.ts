import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { operatorTokenFile } from '../../../services/operator/commands/token-file.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { anEvent } from '../../support/records/broker-records.ts';
import { besides } from '../../support/service/operator-tool.ts';
import type { ServiceSetup } from '../../support/service/system.ts';
import { type ConsoleService, startConsoleService } from './console-service.ts';

/** A console service with three records in quarantine: a wrong value, a merchant that is not there, and a conflict of ids. */
export function startOperatedService(): Promise<ConsoleService> {
  return startConsoleService({
    environment: { HOOKRAIL_CONSOLE_URL: 'https://hooks.example.com/console' },
    fill: putAside,
  });
}

async function putAside({ dataDir, merchantId }: ServiceSetup): Promise<void> {
  const clock = systemClock();
  const broker = await openSqliteBroker({ file: join(dataDir, 'broker.db'), clock, retryScale: 1 });
  const sound = anEvent({ merchantId });
  await broker.publishEvents([sound, anEvent({ merchantId: randomUUID() })]);
  await broker.publishEvents([anEvent({ merchantId, data: { ...sound.data, status: 'PENDING' } })]);
  await broker.publishEvents([{ ...sound, data: { ...sound.data, status: 'DONE' } }]);
  await broker.close();
}

/** Returns the token that this start of the service has made. */
export function tokenOf({ setup }: ConsoleService): string {
  return readFileSync(operatorTokenFile(setup.dataDir), 'utf8').trim();
}

/** Returns the environment in which the operator's tool finds the service. */
export function besidesOperated({ setup, hookrail }: ConsoleService) {
  return { environment: besides(setup.environment, hookrail) };
}

/** Signs in as the page does; returns the cookie as it is set, and the headers of the page's requests. */
export async function signInOperator(service: ConsoleService, person: string) {
  const response = await fetch(`${service.hookrail.operationsUrl}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: tokenOf(service), person }),
  });
  const session = (await response.json()) as { readonly csrf_token: string };
  const cookie = response.headers.get('set-cookie') ?? '';
  const [pair = ''] = cookie.split(';');
  return { cookie, headers: { cookie: pair, 'hookrail-csrf': session.csrf_token } };
}
