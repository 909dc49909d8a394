/** The requests of the model test, and what the model expects of them. */

// biome-ignore lint/suspicious/noExplicitAny: a response of the API; the model names the properties it expects.
export type EndpointAnswer = Record<string, any>;

/** A request that changes something or is refused. `target`: the index of an endpoint, existing or deleted. */
export type Wish =
  | { readonly kind: 'create'; readonly json: Json }
  | { readonly kind: 'patch'; readonly target: number; readonly json: Json }
  | { readonly kind: 'prepare' | 'discard' | 'rotate'; readonly target: number }
  | { readonly kind: 'delete'; readonly target: number }
  | { readonly kind: 'single'; readonly json: Json };
export type Json = Readonly<Record<string, unknown>>;

/** The expected response to a request, and its effect on the model. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  /**
   * Checks the response to a successful request and updates the model. `isRepeat`: the same request was carried out
   * before, and its response was lost.
   */
  readonly apply?: (body: EndpointAnswer, isRepeat?: boolean) => void;
}

/** A request ready to send; sending it twice sends the same request. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly json?: Json;
  readonly headers: Record<string, string>;
  readonly expected: Expected;
}
