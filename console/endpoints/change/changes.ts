import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import type { paths } from '../../../client/generated/merchant-api.ts';
import { bodyOf, rest } from '../../api/api.ts';

type BodyOf<Operation> = Operation extends {
  readonly requestBody?: { readonly content: { readonly 'application/json': infer Body } };
}
  ? Body
  : never;
export type NewEndpoint = BodyOf<paths['/merchant/webhook-endpoints']['post']>;
export type EndpointChange = BodyOf<paths['/merchant/webhook-endpoints/{id}']['patch']>;
export type TestWebhook = BodyOf<paths['/merchant/webhook-endpoints/{id}/test']['post']>;

const KEY_BYTES = 16;
const TEST_WAIT = 'wait=15';

/** Returns a key by which a request is repeated without being done twice. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export const createEndpoint = (body: NewEndpoint, key: string) =>
  bodyOf(rest.POST('/merchant/webhook-endpoints', { params: { header: { 'Idempotency-Key': key } }, body }));

export const updateEndpoint = (id: string, body: EndpointChange) =>
  bodyOf(rest.PATCH('/merchant/webhook-endpoints/{id}', { params: { path: { id } }, body }));

export const rotateSecret = (id: string, key: string) =>
  bodyOf(
    rest.PATCH('/merchant/webhook-endpoints/{id}/secret', {
      params: { path: { id }, header: { 'Idempotency-Key': key } },
    }),
  );

export const deleteEndpoint = (id: string) =>
  rest.DELETE('/merchant/webhook-endpoints/{id}', { params: { path: { id } } });

/** Sends a test, and waits for what the server answers. */
export const sendTest = (id: string, body: TestWebhook) =>
  bodyOf(
    rest.POST('/merchant/webhook-endpoints/{id}/test', {
      params: { path: { id }, header: { Prefer: TEST_WAIT } },
      body,
    }),
  );

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
