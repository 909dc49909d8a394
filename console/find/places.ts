const PLACES: readonly (readonly [path: RegExp, place: (ids: readonly string[]) => Place])[] = [
  [/^\/merchant\/subjects\/([^/]+)$/, ([id = '']) => ({ to: '/subjects/$id', params: { id } })],
  [/^\/merchant\/events\/([^/?]+)$/, ([id = '']) => ({ to: '/events/$id', params: { id } })],
  [
    /^\/merchant\/webhook-endpoints\/([^/]+)$/,
    ([endpoint = '']) => ({ to: '/endpoints/$endpoint', params: { endpoint } }),
  ],
  [
    /^\/merchant\/webhook-endpoints\/([^/]+)\/deliveries\/([^/]+)$/,
    ([endpoint = '', id = '']) => ({ to: '/endpoints/$endpoint/deliveries/$id', params: { endpoint, id } }),
  ],
];

export type Place =
  | { readonly to: '/subjects/$id' | '/events/$id'; readonly params: { readonly id: string } }
  | { readonly to: '/endpoints/$endpoint'; readonly params: { readonly endpoint: string } }
  | {
      readonly to: '/endpoints/$endpoint/deliveries/$id';
      readonly params: { readonly endpoint: string; readonly id: string };
    };

/** Returns the screen for a resource of the API; undefined for one that has no screen. */
export function placeOf(path: string): Place | undefined {
  for (const [pattern, place] of PLACES) {
    const found = pattern.exec(path);
    if (found) return place(found.slice(1).map(decodeURIComponent));
  }
  return undefined;
}
