const SHOWN = 8;

/** Returns the beginning of an id, as much as tells a few apart. */
export function shortId(id: string): string {
  return id.slice(0, SHOWN);
}
