/** After this time a change binds router and sender, on every engine (docs/design.md, "The directory"). */
const IN_FORCE_MS = 1100;

/** Resolves when a change that was acknowledged before is in force everywhere. */
export function inForce(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, IN_FORCE_MS));
}
