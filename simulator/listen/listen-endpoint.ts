/** The beginning of what `sim listen` calls its endpoints. */
const LISTENS = 'listen → ';

/** Returns the description of the endpoint of a listener. */
export function listenDescription(forwardTo: URL): string {
  return `${LISTENS}${forwardTo.href}`;
}

/** Whether an endpoint was made by `sim listen`, by its description; that of a deleted one is null. */
export function isOfListener({ description }: { readonly description: string | null }): boolean {
  return description?.startsWith(LISTENS) === true;
}

/** Whether an event did not reach an endpoint only because its listener does not run, which is as it should be. */
export function isIdleListener(endpoint: { readonly description: string | null }, verdict: string): boolean {
  return verdict === 'endpoint_disabled' && isOfListener(endpoint);
}
