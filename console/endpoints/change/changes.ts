import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../../client/generated/merchant-api.ts';
import { bodyOf, rest } from '../../api/api.ts';
import { Refusal } from '../../api/refusal.ts';

type Schemas = components['schemas'];
export type EndpointChange = Schemas['UpdateWebhookEndpoint'];

const KEY_BYTES = 16;
const TEST_WAIT = 'wait=15';
const keyed = (key: string) => ({ 'Idempotency-Key': key });

export const createEndpoint = (body: Schemas['CreateWebhookEndpoint'], key: string) =>
  bodyOf(rest.POST('/merchant/webhook-endpoints', { params: { header: keyed(key) }, body }));

export const updateEndpoint = (id: string, body: EndpointChange) =>
  bodyOf(rest.PATCH('/merchant/webhook-endpoints/{id}', { params: { path: { id } }, body }));

const PREPARE = '/merchant/webhook-endpoints/{id}/secret/prepare';

export const prepareSecret = (id: string, key: string) =>
  bodyOf(rest.POST(PREPARE, { params: { path: { id }, header: keyed(key) } }));

export const discardPrepared = (id: string) => rest.DELETE(PREPARE, { params: { path: { id } } });

/** Puts the prepared secret in force; refused when somebody has discarded it. */
export function rotateToPrepared(id: string, key: string) {
  const params = { path: { id }, header: keyed(key) };
  return bodyOf(rest.PATCH('/merchant/webhook-endpoints/{id}/secret', { params, body: { use: 'prepared' } }));
}

export const checkEndpoint = (id: string) =>
  bodyOf(rest.POST('/merchant/webhook-endpoints/{id}/check', { params: { path: { id } } }));

export const deleteEndpoint = (id: string) =>
  rest.DELETE('/merchant/webhook-endpoints/{id}', { params: { path: { id } } });

/** Sends a test, and waits for what the server answers. */
export function sendTest(id: string, body: Schemas['TestWebhook']) {
  const params = { path: { id }, header: { Prefer: TEST_WAIT } };
  return bodyOf(rest.POST('/merchant/webhook-endpoints/{id}/test', { params, body }));
}

/** Reads again what a change of an endpoint shows in. */
function readAgain(client: QueryClient): Promise<unknown> {
  const changed = ['endpoints', 'owed', 'newest', 'attempts'];
  return Promise.all(changed.map((key) => client.invalidateQueries({ queryKey: [key] })));
}

/** A change of an endpoint; when it is made, the screens show it. */
export function useChange<Input, Answer>(change: (input: Input) => Promise<Answer>) {
  const client = useQueryClient();
  return useMutation({ mutationFn: change, onSuccess: () => readAgain(client) });
}

function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(KEY_BYTES))].map((byte) => byte.toString(16)).join('');
}

/**
 * A change that shows a secret. When its response was lost, the same key gives the same secret; a request that was
 * refused is another one next time.
 */
export function useSecretChange<Answer>(change: (key: string) => Promise<Answer>) {
  const [key, setKey] = useState(newKey);
  return useChange<void, Answer>(async () => {
    try {
      return await change(key);
    } catch (refused) {
      if (refused instanceof Refusal && refused.status < 500) setKey(newKey());
      throw refused;
    }
  });
}
